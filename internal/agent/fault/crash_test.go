package fault

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/agent/nft"
	"replab.dev/internal/agent/notes"
	"replab.dev/internal/wire"
	"replab.dev/test/netns"
)

// interrupted is an action whose agent ends before, or right after, the act.
type interrupted struct {
	action
	after bool
}

type ended struct{}

func (i interrupted) inject(r *record) error {
	if i.after {
		if err := i.action.inject(r); err != nil {
			return err
		}
	}
	panic(ended{})
}

// crash puts a fault into a manager that ends at the act, and returns the manager of the next agent.
func crash(t *testing.T, n *node, request wire.FaultRequest, after bool) *Manager {
	t.Helper()
	m := n.manager()
	m.actions[request.Action] = interrupted{m.actions[request.Action], after}
	func() {
		defer func() {
			if _, ok := recover().(ended); !ok {
				t.Fatal("the agent did not end at the act")
			}
		}()
		_, _ = m.Put(request)
	}()
	return n.manager()
}

func TestAKillThatMayHaveHappenedIsNeitherRepeatedNorConfirmed(t *testing.T) {
	for _, c := range []struct {
		name  string
		after bool
		says  string
	}{
		{"before the act", false, "so it was not killed"},
		{"after the act", true, "no server process exists"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := newNode(t)
			server := n.start()
			m := crash(t, n, n.request("crash", wire.FaultKill, -1), c.after)
			eventually(t, "the kill has taken effect, if it happened", func() bool { return server.Alive() != c.after })
			r := get(t, m, "crash")
			if r.Confirmed || r.InjectedAt != nil || !strings.Contains(r.Evidence, "not known") {
				t.Errorf("record: %+v", r)
			}
			if seen := (kill{target: target{finder: n.finder}}).examineServer(record{FaultRecord: r}); !strings.Contains(seen, c.says) {
				t.Errorf("evidence of the server is %q, want %q", seen, c.says)
			}
			if c.after { // the kubelet starts the next one, once the hold is released
				server = n.start()
			}
			again := put(t, m, n.request("crash", wire.FaultKill, -1))
			if again.Confirmed || again.InjectedAt != nil || !server.Alive() {
				t.Errorf("asked again, it was repeated: %+v", again)
			}
			_, err := m.Release("crash")
			must(t, err)
			if holds(t, n, "crash") {
				t.Error("the hold stands after its release")
			}
		})
	}
}

func TestAPauseOfAnAgentThatEndedIsReleasedByTheNext(t *testing.T) {
	n := newNode(t)
	server := n.start()
	m := crash(t, n, n.request("hang", wire.FaultPause, 300), true)
	r := get(t, m, "hang")
	if r.Confirmed || r.InjectedAt != nil || !strings.Contains(r.Evidence, "stopped") {
		t.Errorf("record: %+v", r)
	}
	eventually(t, "the server runs again", func() bool { return !stopped(t, server) })
	eventually(t, "the record says so", func() bool { return get(t, m, "hang").ReleasedAt != nil })
}

func TestAPauseThatDidNotHappenIsOver(t *testing.T) {
	n := newNode(t)
	server := n.start()
	m := crash(t, n, n.request("hang", wire.FaultPause, -1), false)
	if r := get(t, m, "hang"); r.Confirmed || r.ReleasedAt == nil || stopped(t, server) || len(m.Holds()) > 0 {
		t.Errorf("record: %+v", r)
	}
}

func TestAPartitionOfAnAgentThatEndedIsReleasedByTheNext(t *testing.T) {
	netns.Need(t)
	n := newNode(t)
	m := crash(t, n, n.request("late", wire.FaultPartition, 300, "127.0.0.2"), true)
	if r := get(t, m, "late"); r.Confirmed || r.InjectedAt != nil || !strings.Contains(r.Evidence, "packet filter") {
		t.Errorf("record: %+v", r)
	}
	eventually(t, "its rules are gone", func() bool {
		exists, err := nft.Exists("late")
		must(t, err)
		return !exists
	})
}

func TestHoldsGoOnUnderTheNextAgent(t *testing.T) {
	n := newNode(t)
	server := n.start()
	first := n.manager()
	paused := put(t, first, n.request("hang", wire.FaultPause, 1000))
	held := put(t, first, n.request("gone", wire.FaultHold, -1))
	first.Close()

	second := n.manager()
	if r := get(t, second, "hang"); time.Now().Before(paused.HeldUntil.Time) && asJSON(t, r) != asJSON(t, paused) {
		t.Errorf("the record changed: %s, was %s", asJSON(t, r), asJSON(t, paused))
	}
	eventually(t, "the server runs again", func() bool { return !stopped(t, server) })
	if r := get(t, second, "gone"); asJSON(t, r) != asJSON(t, held) {
		t.Errorf("the record changed: %s, was %s", asJSON(t, r), asJSON(t, held))
	}
}

func TestAReleaseThatWasDueWhileNoAgentRanIsDone(t *testing.T) {
	n := newNode(t)
	server := n.start()
	first := n.manager()
	r := put(t, first, n.request("hang", wire.FaultPause, -1))
	first.Close()
	until := metav1.NowMicro()
	r.HoldMilliseconds, r.HeldUntil = until.Sub(r.InjectedAt.Time).Milliseconds(), &until // as if it had been for so long
	must(t, recordsIn(n.stateDir).Save(r.Name, record{FaultRecord: r}))
	if !stopped(t, server) {
		t.Fatal("no agent runs, and the server was resumed")
	}
	late := n.manager()
	eventually(t, "the server runs again", func() bool { return !stopped(t, server) })
	eventually(t, "the record says so", func() bool { return get(t, late, "hang").ReleasedAt != nil })
	if got := get(t, late, "hang"); !got.Confirmed || got.Evidence != r.Evidence {
		t.Errorf("evidence changed: %+v", got)
	}
}

func TestInANewPodAHoldStandsAndAPauseIsOver(t *testing.T) {
	n := newNode(t)
	n.start()
	first := n.manager()
	put(t, first, n.request("gone", wire.FaultHold, -1))
	put(t, first, n.request("hang", wire.FaultPause, -1))
	old := n.request("gone", wire.FaultHold, -1)
	first.Close()

	n.podUID = "next"
	m := n.manager()
	if r := get(t, m, "gone"); r.ReleasedAt != nil || !holds(t, n, "gone") {
		t.Errorf("the hold did not outlive the pod: %+v", r)
	}
	if r := get(t, m, "hang"); r.ReleasedAt == nil || !r.Confirmed || !strings.Contains(r.Evidence, "its pod is gone") {
		t.Errorf("the pause of the last pod: %+v", r)
	}
	if r := put(t, m, old); r.ReleasedAt != nil {
		t.Errorf("the operator's request again, after a restart of it: %+v", r)
	}
	_, err := m.Release("gone")
	must(t, err)
	if holds(t, n, "gone") {
		t.Error("the hold stands after its release")
	}
}

func TestAPartitionThatVanishedIsReportedAsEnded(t *testing.T) {
	netns.Need(t)
	n := newNode(t)
	first := n.manager()
	put(t, first, n.request("cut", wire.FaultPartition, -1, "127.0.0.2"))
	first.Close()
	must(t, nft.Heal("cut")) // as with the pod's sandbox
	if r := get(t, n.manager(), "cut"); r.ReleasedAt == nil || !strings.Contains(r.Evidence, "before its time") {
		t.Errorf("record: %+v", r)
	}
}

func TestAPartitionWithoutNetAdminIsNotConfirmed(t *testing.T) {
	if os.Geteuid() == 0 {
		cmd := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v")
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		cmd.Env = append(os.Environ(), "TMPDIR=/tmp")
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASS") {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	n := newNode(t)
	for _, m := range []*Manager{n.manager(), n.manager()} { // a new agent makes no trouble of it
		r := put(t, m, n.request("cut", wire.FaultPartition, -1, "127.0.0.2"))
		if r.Confirmed || r.InjectedAt != nil || r.ReleasedAt == nil || !strings.Contains(r.Evidence, "NET_ADMIN") {
			t.Errorf("record: %+v", r)
		}
	}
}

func TestTheNextAgentKeepsAnUnfinishedHoldFilesEnd(t *testing.T) {
	n := newNode(t)
	until := time.Now().Add(200 * time.Millisecond)
	must(t, notes.PutHold(n.holdDir(), notes.Hold{Fault: "crash", Until: &until}))
	heldUntil := metav1.NewMicroTime(until)
	r := record{FaultRecord: wire.FaultRecord{
		FaultRequest: n.request("crash", wire.FaultKill, 200), IntendedAt: metav1.NowMicro(), HeldUntil: &heldUntil,
	}}
	must(t, recordsIn(n.stateDir).Save(r.Name, r))
	m := n.manager()
	eventually(t, "it is released", func() bool { return get(t, m, "crash").ReleasedAt != nil })
	if get(t, m, "crash").ReleasedAt.Time.Before(until.Truncate(time.Microsecond)) {
		t.Error("released too early")
	}
}

func asJSON(t *testing.T, r wire.FaultRecord) string {
	t.Helper()
	text, err := json.Marshal(r)
	must(t, err)
	return string(text)
}
