package agent

import (
	"errors"
	"testing"
	"time"

	"replab.dev/internal/agent/proc"
	"replab.dev/internal/engine"
)

func TestRoles(t *testing.T) {
	running := &engine.Replication{IORunning: true, SQLRunning: true}
	writable, readOnly := &engine.Status{Writable: true}, &engine.Status{}
	for _, c := range []struct {
		name                    string
		v                       view
		lease                   bool
		ready, primary, replica bool
	}{
		{"a server that does not answer has no role", view{replication: running}, true, false, false, false},
		{"a writable server with a lease is the primary", view{status: writable}, true, true, true, false},
		{"a writable server without a lease is nothing", view{status: writable}, false, true, false, false},
		{"a writable server that replicates is no replica", view{status: writable, replication: running}, false, true, false, false},
		{"a read-only server with a lease is not the primary", view{status: readOnly}, true, true, false, false},
		{"a read-only server that replicates is a replica", view{status: readOnly, replication: running}, false, true, false, true},
		{"one that no longer receives still is", view{status: readOnly, replication: &engine.Replication{SQLRunning: true}}, false, true, false, true},
		{"one that no longer applies is not", view{status: readOnly, replication: &engine.Replication{IORunning: true}}, false, true, false, false},
		{"one whose replication could not be asked is not", view{status: readOnly}, false, true, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			ready, _ := isReady(c.v)
			primary, _ := isPrimary(c.v, c.lease)
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
	status := func(of proc.Process, age time.Duration, err error) answer[engine.Status] {
		return answer[engine.Status]{of: of, at: now.Add(-age), value: engine.Status{ServerUUID: "u"}, err: err}
	}
	good := answer[engine.Replication]{of: server, at: now}
	for _, c := range []struct {
		name        string
		status      answer[engine.Status]
		replication answer[engine.Replication]
		asked, both bool
	}{
		{"fresh answers are believed", status(server, 0, nil), good, true, true},
		{"an answer of a second ago still is", status(server, time.Second, nil), good, true, true},
		{"an older one is not", status(server, time.Second+1, nil), good, false, false},
		{"an error is not an answer", status(server, 0, errors.New("refused")), good, false, false},
		{"an answer of an earlier server with the same pid is not believed", status(other, 0, nil), good, false, false},
		{"an old answer about replication leaves the rest", status(server, 0, nil), answer[engine.Replication]{of: server, at: now.Add(-2 * time.Second)}, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := viewOf(server, c.status, c.replication, now)
			if (v.status != nil) != c.asked || (v.replication != nil) != c.both {
				t.Errorf("status %v, replication %v", v.status, v.replication)
			}
			if v.replication == nil && v.why == "" {
				t.Error("the view does not say why")
			}
		})
	}
}
