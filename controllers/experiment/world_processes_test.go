package experiment

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/controllers/experiment/fault"
	"replab.dev/internal/load/k6"
	"replab.dev/internal/plan"
	"replab.dev/internal/topology"
	"replab.dev/internal/wire"
)

// Ask answers for the director: a failover takes 3 s from the kill, the old primary comes back when its hold ends.
func (w *world) Ask(context.Context, []topology.Question) topology.Answers {
	name := func(i int) string { return fmt.Sprintf("%s-db-%d", w.x, i) }
	s := wire.DirectorState{Epoch: 1, Primary: name(0), Opened: true, Configured: true, Nodes: []wire.NodeView{
		{Name: name(0), Role: wire.RoleWriter}, {Name: name(1), Role: wire.RoleReader, CaughtUp: true}, {Name: name(2), Role: wire.RoleReader, CaughtUp: true},
	}}
	if f, ok := w.faults["crash"]; ok {
		since := w.now.Sub(f.InjectedAt.Time)
		s.Nodes[0] = wire.NodeView{Name: name(0), Role: wire.RoleDown, Why: "killed"}
		if since > 3*time.Second {
			s.Epoch, s.Primary, s.Nodes[1].Role = 2, name(1), wire.RoleWriter
			at := metav1.NewMicroTime(f.InjectedAt.Add(3 * time.Second))
			s.Failovers = []wire.DirectedFailover{{OldPrimary: name(0), NewPrimary: name(1), DetectedAt: metav1.NewMicroTime(f.InjectedAt.Add(time.Second)), PromotedAt: &at}}
		}
		if since > time.Duration(f.HoldMilliseconds)*time.Millisecond {
			s.Nodes[0].Role = wire.RoleIsolated
		}
		if !w.rejoinedAt.IsZero() {
			s.Nodes[0].Role, s.Nodes[0].CaughtUp, s.Nodes[0].Rejoin = wire.RoleReader, true, wire.RejoinDone
		}
	}
	if w.stuck && w.kills > 0 {
		s.Nodes[2].CaughtUp, s.Nodes[2].Why = false, "its applier has stopped"
	}
	body, _ := json.Marshal(s)
	return topology.Answers{"director": {Body: body}}
}

func (w *world) Send(_ context.Context, token string, r topology.Request) ([]byte, error) {
	if token == "" || !strings.HasSuffix(r.URL, wire.DirectorPathRejoin) {
		w.t.Errorf("request %s with token %q", r.URL, token)
	}
	w.rejoinedAt = w.now
	w.wrote("rejoin")
	return nil, nil
}

// Faults are carried out one after the other, so that an operator can be stopped in between.
func (w *world) Faults(_ context.Context, _ string, calls []fault.Call) []fault.Answer {
	answers := make([]fault.Answer, len(calls))
	for i, c := range calls {
		answers[i].FaultRecord = w.fault(c.FaultRequest)
	}
	return answers
}

func (w *world) fault(r wire.FaultRequest) wire.FaultRecord {
	f, ok := w.faults[r.Name]
	if !ok {
		if target := w.x + "-db-0"; r.Name == "crash" && r.PodUID != "uid-"+target {
			w.t.Errorf("fault %s hits pod UID %s", r.Name, r.PodUID)
		}
		w.kills++
		f = &wire.FaultRecord{FaultRequest: r, InjectedAt: ptr.To(metav1.NewMicroTime(w.now))}
		w.faults[r.Name] = f
		w.wrote("fault " + r.Name)
	}
	record := *f
	if w.now.Sub(f.InjectedAt.Time) >= settleDelay {
		record.Concluded, record.Confirmed, record.Evidence = true, true, "seen"
	}
	return record
}

func (w *world) FaultState(_ context.Context, _, name string) (*wire.FaultRecord, error) {
	known, ok := w.faults[name]
	if !ok {
		return nil, nil
	}
	f := *known
	f.ReleasedAt = ptr.To(metav1.NewMicroTime(f.InjectedAt.Add(time.Duration(f.HoldMilliseconds) * time.Millisecond)))
	return &f, nil
}

func (w *world) Release(context.Context, string, string, string) (wire.FaultRecord, error) {
	return wire.FaultRecord{}, fmt.Errorf("no fault of this experiment is held until the audit")
}

func (w *world) K6States(_ context.Context, podIPs []string) []k6.State {
	states := make([]k6.State, len(podIPs))
	for i, ip := range podIPs {
		born := w.born["*v1.Job/"+w.x+"-load-"+strings.TrimPrefix(ip, "10.0.1.")]
		switch _, begun := w.begun[ip]; {
		case begun:
			states[i] = k6.Begun
		case w.now.Sub(born) >= loadDelay+time.Duration(i)*time.Second: // one takes longer than the other
			states[i] = k6.Paused
		}
	}
	return states
}

// ResumeK6s tells one after the other, so that an operator can be stopped in between.
func (w *world) ResumeK6s(_ context.Context, podIPs []string) error {
	for _, ip := range podIPs {
		if _, begun := w.begun[ip]; begun {
			w.t.Errorf("k6 pod %s is told to begin a second time", ip)
		}
		w.begun[ip] = w.now
		w.wrote("resume " + ip)
	}
	return nil
}

func (w *world) Recorder(context.Context, string) (wire.RecorderState, error) {
	s := wire.RecorderState{Now: ptr.To(metav1.NewMicroTime(w.now.Add(-w.ahead)))}
	for _, at := range w.begun {
		if s.LoadStartedAt == nil || at.Before(s.LoadStartedAt.Time) {
			s.LoadStartedAt = ptr.To(metav1.NewMicroTime(at))
		}
	}
	if s.LoadStartedAt != nil && w.space > 0 && w.now.Sub(s.LoadStartedAt.Time) >= w.space {
		s.Failed = "no space left on device"
	}
	return s, nil
}

func (w *world) FinishRecorder(context.Context, string, string) error {
	w.finished = true
	w.wrote("finish")
	return nil
}

// acknowledgements come all the time.
func (w *world) acknowledgements() *wire.Acknowledgements {
	s, _ := w.Recorder(context.Background(), "")
	a := wire.NewAcknowledgements(s.LoadStartedAt.Time)
	for at := s.LoadStartedAt.Time; at.Before(w.now); at = at.Add(100 * time.Millisecond) {
		a.Mark(at)
	}
	return a
}

// stageResults of a load with stages without distance, of which it matters when each began.
func (w *world) stageResults() []wire.StageResult {
	if !w.stages[0].WithoutDistance() {
		return nil
	}
	state, _ := w.Recorder(context.Background(), "")
	var results []wire.StageResult
	at := state.LoadStartedAt.Time
	for _, s := range w.stages {
		results = append(results, wire.StageResult{Name: s.Name, StartedAt: ptr.To(metav1.NewMicroTime(at))})
		at = at.Add(time.Duration(s.DurationSeconds) * time.Second)
	}
	return results
}

// results are what the instruments leave behind.
func (w *world) results(m *corev1.ConfigMap) {
	counts := wire.LedgerCounts{Sent: 1000, Acknowledged: 1000}
	switch {
	case m.Name == plan.RecorderStateName(w.x) && w.finished:
		text, _ := json.Marshal(wire.RecorderResults{
			Settings: []wire.NodeSettings{{Node: "x-db-0", Identity: "0"}, {Node: "x-db-1", Identity: "1"}, {Node: "x-db-2", Identity: "2"}},
			Writes:   counts, Load: wire.StageResult{Requests: 3000, DurationMicroseconds: 40_000_000}, Acknowledgements: w.acknowledgements(),
			Writers: []string{w.x + "-db-0", w.x + "-db-1"},
			Clocks:  []wire.Clock{{Name: w.x + "-db-0"}, {Name: w.x + "-db-1"}, {Name: w.x + "-db-2"}}, Stages: w.stageResults(),
		})
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write(text)
		_ = z.Close()
		m.BinaryData = map[string][]byte{wire.RecorderResultsKey: b.Bytes()}
	case m.Name == plan.RecountStateName(w.x) && w.made("-recount"):
		text, _ := json.Marshal(wire.AuditResult{Nodes: []wire.AuditedNode{
			{Name: w.x + "-db-0", Role: wire.RoleReader, Rows: ptr.To[int64](11_000), Missing: ptr.To[int64](0), Extra: ptr.To[int64](0), Checksum: "17"},
			{Name: w.x + "-db-1", Role: wire.RoleWriter, Rows: ptr.To[int64](11_000), Checksum: "17"},
		}})
		m.Data = map[string]string{wire.AuditResultKey: string(text)}
	case m.Name == plan.AuditStateName(w.x) && w.made("-audit"):
		nodes := []wire.AuditedNode{
			{Name: w.x + "-db-0", Role: wire.RoleIsolated, Extra: ptr.To[int64](1), ExtraProbeWrites: ptr.To[int64](0), GhostTransactions: ptr.To[int64](1), HoldsOwn: ptr.To(true)},
			{Name: w.x + "-db-1", Role: wire.RoleWriter},
			{Name: w.x + "-db-2", Role: wire.RoleReader, Extra: ptr.To[int64](0), ExtraProbeWrites: ptr.To[int64](0)},
		}
		if w.faults["crash"] == nil { // nobody took over
			nodes[0] = wire.AuditedNode{Name: w.x + "-db-0", Role: wire.RoleWriter}
			nodes[1] = wire.AuditedNode{Name: w.x + "-db-1", Role: wire.RoleReader, Extra: ptr.To[int64](0), ExtraProbeWrites: ptr.To[int64](0), HoldsOwn: ptr.To(true)}
		}
		text, _ := json.Marshal(wire.AuditResult{Writes: &wire.WriteSets{LedgerCounts: counts, Present: 1000, Balanced: true}, Nodes: nodes})
		m.Data = map[string]string{wire.AuditResultKey: string(text)}
	}
}
