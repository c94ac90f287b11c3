package topology

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/wire"
)

// Failover by the clock of the topology's own manager.
type Failover struct {
	// Clock is the name of that clock: a node's, or that of a process of the topology's own.
	Clock      string            `json:"clock,omitempty"`
	OldWriter  string            `json:"oldWriter,omitempty"`
	NewWriter  string            `json:"newWriter,omitempty"`
	DetectedAt metav1.MicroTime  `json:"detectedAt,omitempty"`
	PromotedAt *metav1.MicroTime `json:"promotedAt,omitempty"`
	// Seen tells that PromotedAt is when the new writer was looked at and found open for writes, as it may have been for some time.
	Seen bool `json:"seen,omitempty"`
	// Unapplied counts the transactions that the new writer had received and not applied when it was chosen to be opened.
	Unapplied int64 `json:"unapplied,omitempty"`
	// Undetected tells that nobody noted when it was decided: DetectedAt is then PromotedAt.
	Undetected bool `json:"undetected,omitempty"`
	// Waits tells that the group still counted the old writer when the new one took over, at PromotedAt: how much longer commits waited for it
	// is not known.
	Waits bool `json:"waits,omitempty"`
	// Planned: it was asked for, at DetectedAt or, where the nodes decide among themselves, before. The old writer took no writes any more when the new one had all of its own, unless OldServes.
	Planned bool `json:"planned,omitempty"`
	// OldServes: the old writer goes on taking what clients still send it.
	OldServes bool `json:"oldServes,omitempty"`
}

// RestartInPlace is a writer's return to its own place after its server was lost: nobody took over meanwhile.
type RestartInPlace struct {
	Node  string `json:"node,omitempty"`
	Clock string `json:"clock,omitempty"` // see Failover
	// LostAt is the last moment at which the server before took writes, zero when nobody saw it, and At when the next one was seen to.
	LostAt metav1.MicroTime `json:"lostAt,omitempty"`
	At     metav1.MicroTime `json:"at,omitempty"`
}

// Switchover is a planned change of the writer, by the clock of the topology's own manager.
type Switchover struct {
	Name        string            `json:"name,omitempty"`  // that it was asked for under
	Clock       string            `json:"clock,omitempty"` // see Failover
	RequestedAt metav1.MicroTime  `json:"requestedAt,omitempty"`
	OldWriter   string            `json:"oldWriter,omitempty"`
	NewWriter   string            `json:"newWriter,omitempty"`
	Outcome     SwitchoverOutcome `json:"outcome,omitempty"`
	Why         string            `json:"why,omitempty"` // it failed, or what it waits for
}

// SwitchoverOutcome is how far a planned change has come.
type SwitchoverOutcome int

// Outcomes. One that failed has left the old writer in its place.
const (
	SwitchoverUnderWay SwitchoverOutcome = iota
	SwitchoverDone
	SwitchoverFailed
)

// Absence is a time at which a node did not take writes as a writer, nor follow one.
type Absence struct {
	Node  string `json:"node,omitempty"`
	Clock string `json:"clock,omitempty"` // see Failover
	wire.Absence
}

// Switchover returns the planned change that was asked for under a name, nil when none was.
func (s State) Switchover(name string) *Switchover {
	for i := range s.Switchovers {
		if s.Switchovers[i].Name == name {
			return &s.Switchovers[i]
		}
	}
	return nil
}
