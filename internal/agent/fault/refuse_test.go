package fault

import (
	"errors"
	"os"
	"strings"
	"testing"

	"replab.dev/internal/wire"
)

func TestFaultsWithoutAServerAreNotConfirmed(t *testing.T) {
	for _, action := range []wire.FaultAction{wire.FaultKill, wire.FaultPause} {
		n := newNode(t)
		m := n.manager()
		r := put(t, m, n.request("x", action, -1))
		if r.Confirmed || r.InjectedAt != nil || r.ReleasedAt == nil || !strings.Contains(r.Evidence, "no server process") || holds(t, n, "x") {
			t.Errorf("%s: %+v", action, r)
		}
		if again := get(t, n.manager(), "x"); again.Evidence != r.Evidence {
			t.Errorf("%s: a new agent says %q", action, again.Evidence)
		}
	}
}

func TestRefusals(t *testing.T) {
	n := newNode(t)
	server := n.start()
	m := n.manager()
	for _, c := range []struct {
		name    string
		request wire.FaultRequest
		want    error
	}{
		{"another pod", wire.FaultRequest{Name: "x", PodUID: "other", Action: wire.FaultKill}, ErrOtherPod},
		{"no pod", wire.FaultRequest{Name: "x", Action: wire.FaultKill}, ErrOtherPod},
		{"a name that leaves the folder", n.request("../x", wire.FaultKill, 0), ErrInvalid},
		{"no name", n.request("", wire.FaultKill, 0), ErrInvalid},
		{"an action that is not known", n.request("x", "Explode", 0), ErrInvalid},
		{"a hold below -1", n.request("x", wire.FaultKill, -2), ErrInvalid},
		{"a hold of what its manager starts again", n.request("x", wire.FaultKillServer, 1), ErrInvalid},
		{"a partition from nobody", n.request("x", wire.FaultPartition, 0), ErrInvalid},
		{"a partition from a name", n.request("x", wire.FaultPartition, 0, "node-1"), ErrInvalid},
	} {
		if _, err := m.Put(c.request); !errors.Is(err, c.want) {
			t.Errorf("%s: error is %v, want %v", c.name, err, c.want)
		}
	}
	if !server.Alive() {
		t.Error("a refused fault killed the server")
	}
	if _, err := m.Get("x"); !errors.Is(err, ErrUnknown) {
		t.Errorf("a refused fault has a record: %v", err)
	}
	if _, err := m.Release("x"); !errors.Is(err, ErrUnknown) {
		t.Errorf("release of an unknown fault: %v", err)
	}
}

func TestAFaultWhoseIntentCannotBeNotedIsNotInjected(t *testing.T) {
	n := newNode(t)
	server := n.start()
	m := n.manager()
	must(t, os.WriteFile(m.records.Dir, nil, 0o600)) // in the folder's place
	if _, err := m.Put(n.request("crash", wire.FaultKill, 0)); err == nil || !server.Alive() {
		t.Fatalf("error %v, server alive %v", err, server.Alive())
	}
	must(t, os.Remove(m.records.Dir))
	if r := put(t, m, n.request("crash", wire.FaultKill, 0)); !r.Confirmed {
		t.Errorf("asked again, once it can be noted: %+v", r)
	}
}

func TestAServerWhoseHoldCannotBeWrittenIsNotKilled(t *testing.T) {
	n := newNode(t)
	server := n.start()
	must(t, os.WriteFile(n.holdDir(), nil, 0o600)) // in the folder's place
	m := n.manager()
	_, _ = m.Put(n.request("crash", wire.FaultKill, 1000)) // its release fails as well
	if r := get(t, m, "crash"); r.Confirmed || r.InjectedAt != nil || !strings.Contains(r.Evidence, "hold") || !server.Alive() {
		t.Errorf("alive: %v, record: %+v", server.Alive(), r)
	}
}
