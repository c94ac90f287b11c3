package agent

import (
	"errors"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"replab.dev/internal/agent/proc"
	"replab.dev/internal/agent/watch"
	"replab.dev/internal/engine"
)

func TestRoles(t *testing.T) {
	running := &engine.Replication{Applies: true}
	writable, readOnly := ptr.To(true), ptr.To(false)
	for _, c := range []struct {
		name                    string
		v                       view
		lease                   bool
		ready, primary, replica bool
	}{
		{"a server that does not answer has no role", view{replication: running}, true, false, false, false},
		{"a writable server with a lease is the primary", view{writable: writable}, true, true, true, false},
		{"a writable server without a lease is nothing", view{writable: writable}, false, true, false, false},
		{"a writable server that replicates is no replica", view{writable: writable, replication: running}, false, true, false, false},
		{"a read-only server with a lease is not the primary", view{writable: readOnly}, true, true, false, false},
		{"a read-only server that replicates is a replica", view{writable: readOnly, replication: running}, false, true, false, true},
		{"one that no longer applies is not", view{writable: readOnly, replication: &engine.Replication{}}, false, true, false, false},
		{"one whose replication could not be asked is not", view{writable: readOnly}, false, true, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			ready, _ := isReady(c.v)
			primary, _ := isPrimary(c.v, c.lease, "no lease stands")
			replica, _ := isReplica(c.v)
			if ready != c.ready || primary != c.primary || replica != c.replica {
				t.Errorf("ready %v, primary %v, replica %v; want %v, %v, %v", ready, primary, replica, c.ready, c.primary, c.replica)
			}
		})
	}
}

func TestViewTrustsOnlyFreshAnswersOfTheServerThatRuns(t *testing.T) {
	now := time.Now()
	server, other := proc.Process{PID: 1, StartTicks: 5}, proc.Process{PID: 1, StartTicks: 6}
	writable := func(of proc.Process, age time.Duration, err error) watch.Answer[bool] {
		return watch.Answer[bool]{Of: of, At: now.Add(-age), Err: err}
	}
	good := watch.Answer[engine.Replication]{Of: server, At: now}
	for _, c := range []struct {
		name        string
		writable    watch.Answer[bool]
		replication watch.Answer[engine.Replication]
		asked, both bool
	}{
		{"fresh answers are believed", writable(server, 0, nil), good, true, true},
		{"an answer of a second ago still is", writable(server, time.Second, nil), good, true, true},
		{"an older one is not", writable(server, time.Second+1, nil), good, false, false},
		{"an error is not an answer", writable(server, 0, errors.New("refused")), good, false, false},
		{"an answer of an earlier server with the same pid is not believed", writable(other, 0, nil), good, false, false},
		{"an old answer about replication leaves the rest", writable(server, 0, nil), watch.Answer[engine.Replication]{Of: server, At: now.Add(-2 * time.Second)}, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := viewOf(server, c.writable, c.replication, now)
			if (v.writable != nil) != c.asked || (v.replication != nil) != c.both {
				t.Errorf("writable %v, replication %v", v.writable, v.replication)
			}
			if v.replication == nil && v.why == "" {
				t.Error("the view does not say why")
			}
		})
	}
}
