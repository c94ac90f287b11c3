package fault

import (
	"context"
	"testing"
	"time"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/wire"
)

// TestThePartitionFromTheStore is one from the API server: alone, or with everyone where the nodes decide there who takes the writes.
func TestThePartitionFromTheStore(t *testing.T) {
	const store, peers, everyone = v1alpha1.PartitionStore, v1alpha1.PartitionPeers, v1alpha1.PartitionEveryone
	for _, c := range []struct {
		name      string
		from      v1alpha1.PartitionFrom
		decides   bool // the nodes do, in the store
		alone     bool // no other pod has an address
		asked     bool
		addresses int
		cut       bool
	}{
		{"from the store", store, true, false, true, 0, true},
		{"and nobody else is there", store, true, true, true, 0, true},
		{"from peers", peers, true, false, true, 1, false},
		{"from everyone", everyone, true, false, true, 1, true},
		{"from everyone, where another process decides", everyone, false, false, true, 1, false},
		{"from nobody", peers, true, true, false, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLab()
			calls := &stores{lab: l}
			s := l.scene(v1alpha1.Fault{Target: v1alpha1.TargetPrimary, Action: v1alpha1.ActionPartition, PartitionFrom: c.from, HoldSeconds: 10}, v1alpha1.FaultStatus{State: v1alpha1.FaultPlanned})
			s.Agents, s.Store = calls, c.decides
			if !c.alone {
				s.Pods = append(s.Pods, member("x-db-1", "10.0.0.2", time.Hour))
			}
			if _, err := Inject(t.Context(), s, noon, false); err != nil {
				t.Fatal(err)
			}
			if asked := len(calls.requests) == 1; asked != c.asked {
				t.Fatalf("the agent is asked for %+v", calls.requests)
			}
			if c.asked && (len(calls.requests[0].Addresses) != c.addresses || calls.requests[0].Store != c.cut) {
				t.Errorf("the agent is asked for %+v", calls.requests[0])
			}
		})
	}
}

// TestAWidenedPartitionStillCutsOffTheStore: what agents are asked for replaces what they were asked for before.
func TestAWidenedPartitionStillCutsOffTheStore(t *testing.T) {
	l := newLab()
	l.record = &wire.FaultRecord{FaultRequest: wire.FaultRequest{Store: true}, InjectedAt: ago(5 * time.Second), Concluded: true}
	calls := &stores{lab: l}
	e := v1alpha1.FaultStatus{State: v1alpha1.FaultConfirmed, InjectedTime: ago(5 * time.Second)}
	s := l.scene(v1alpha1.Fault{Action: v1alpha1.ActionPartition, PartitionFrom: v1alpha1.PartitionEveryone, HoldSeconds: 20}, e)
	s.Agents, s.Store, s.Pods = calls, true, append(s.Pods, member("x-db-1", "10.0.0.2", 0))
	Keep(t.Context(), s)
	if len(calls.requests) != 1 || !calls.requests[0].Store || len(calls.requests[0].Addresses) != 1 {
		t.Errorf("the agent is asked for %+v", calls.requests)
	}
}

// stores takes down what agents are asked for, as it is.
type stores struct {
	*lab
	requests []wire.FaultRequest
}

func (a *stores) Faults(ctx context.Context, token string, calls []Call) []Answer {
	for _, c := range calls {
		a.requests = append(a.requests, c.FaultRequest)
	}
	return a.lab.Faults(ctx, token, calls)
}
