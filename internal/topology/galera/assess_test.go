package galera

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/engine/mariadb"
	"replab.dev/internal/topology"
	"replab.dev/internal/wire"
)

func params() topology.Params {
	return topology.Params{
		Name: "a", Namespace: "ns", ClusterDomain: "cluster.local", Engine: "MariaDB", Server: mariadb.Server{},
		Spec: v1alpha1.TopologySpec{Type: v1alpha1.TopologyGalera, Nodes: 3, Durability: v1alpha1.DurabilityFull},
	}
}

func moment(second int) metav1.MicroTime {
	return metav1.NewMicroTime(time.Date(2026, 1, 1, 0, 0, second, 0, time.UTC))
}

func whole(writes bool) wire.NodeState {
	return wire.NodeState{ServerPID: 1, Group: &wire.GroupState{NodeHistory: wire.NodeHistory{Writes: writes}, CaughtUp: true, View: &wire.GroupView{
		Primary: true, Synced: true, Serves: true, Component: "c", Members: []string{"a-db-0", "a-db-1", "a-db-2"},
	}}}
}

func answers(t *testing.T, states map[string]wire.NodeState) topology.Answers {
	t.Helper()
	all := topology.Answers{}
	for _, n := range nodes(params()).Nodes() {
		s, ok := states[n.Name]
		if !ok {
			all[n.Name] = topology.Answer{Err: "connection refused"}
			continue
		}
		body, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		all[n.Name] = topology.Answer{Body: body}
	}
	return all
}

func TestAssessOfAGroupThatIsWhole(t *testing.T) {
	state := Driver{}.Assess(params(), answers(t, map[string]wire.NodeState{"a-db-0": whole(true), "a-db-1": whole(false), "a-db-2": whole(false)}))
	if !state.Known || !state.Deployed || len(state.Writers) != 1 || state.Writers[0] != "a-db-0" || !state.OldServes {
		t.Fatalf("%+v", state)
	}
	if settled, why := state.Settled(nil); !settled {
		t.Errorf("not settled: %s", why)
	}
	for i, want := range []topology.Role{topology.Writer, topology.Reader, topology.Reader} {
		if state.Nodes[i].Role != want {
			t.Errorf("node %d is %s, want %s", i, state.Nodes[i].Role, want)
		}
	}
}

func TestAssessAfterTheWriterDied(t *testing.T) {
	dead := wire.NodeState{Group: &wire.GroupState{NodeHistory: wire.NodeHistory{Terms: []wire.WriterTerm{{From: moment(1), To: ptr(moment(20))}}}}}
	next := whole(true)
	next.Group.Terms = []wire.WriterTerm{{From: moment(21), After: "a-db-0", NoticedAt: ptr(moment(20))}}
	ist := v1alpha1.ResyncStatus{Method: v1alpha1.ResyncIST, DurationMilliseconds: ptr[int64](1000), NetworkReceivedBytes: ptr[int64](77)}
	next.Group.Absences = []wire.Absence{{LeftAt: moment(3), BackAt: ptr(moment(5)), Resync: &ist}}
	state := Driver{}.Assess(params(), answers(t, map[string]wire.NodeState{"a-db-0": dead, "a-db-1": next}))
	if state.Deployed || len(state.Writers) != 1 || state.Writers[0] != "a-db-1" {
		t.Fatalf("%+v", state)
	}
	if state.Nodes[0].Role != topology.Down || state.Nodes[2].Role != topology.Down || state.Nodes[0].Why == "" || state.Nodes[2].Why == "" {
		t.Errorf("nodes %+v, want the first and the last down, and why", state.Nodes)
	}
	if len(state.Failovers) != 1 || state.Failovers[0].OldWriter != "a-db-0" || state.Failovers[0].NewWriter != "a-db-1" || state.Failovers[0].Clock != "a-db-1" {
		t.Errorf("failovers %+v", state.Failovers)
	}
	if state.Failovers[0].Waits {
		t.Error("commits waited for a member that the group had given up")
	}
	next.Group.Terms[0].AfterCounts = true
	if again := (Driver{}).Assess(params(), answers(t, map[string]wire.NodeState{"a-db-0": dead, "a-db-1": next})); !again.Failovers[0].Waits {
		t.Error("that the group had not given the old writer up is not told")
	}
	if len(state.Absences) != 1 || state.Absences[0].Node != "a-db-1" || state.Absences[0].Resync == nil {
		t.Errorf("absences %+v", state.Absences)
	}
	if got := state.Absences[0].Resync; got.Method != v1alpha1.ResyncIST || *got.DurationMilliseconds != 1000 || *got.NetworkReceivedBytes != 77 {
		t.Errorf("it came back by the resync %+v", got)
	}
	if settled, _ := state.Settled(nil); settled {
		t.Error("settled with two nodes down")
	}
}

// TestAssessWithoutAWriter: it is the last one still, where all members tell of their terms, or the others name it.
func TestAssessWithoutAWriter(t *testing.T) {
	first := wire.NodeState{Group: &wire.GroupState{NodeHistory: wire.NodeHistory{Terms: []wire.WriterTerm{{From: moment(1), To: ptr(moment(2))}}}}}
	second := wire.NodeState{Group: &wire.GroupState{NodeHistory: wire.NodeHistory{Terms: []wire.WriterTerm{{From: moment(3), After: "a-db-0", NoticedAt: ptr(moment(2))}}}}}
	naming := func(s wire.NodeState, writer string) wire.NodeState {
		g := *s.Group
		g.Leader = writer
		return wire.NodeState{Group: &g}
	}
	for name, c := range map[string]struct {
		told map[string]wire.NodeState
		want string
	}{
		"all tell":                     {map[string]wire.NodeState{"a-db-0": first, "a-db-1": second, "a-db-2": {Group: &wire.GroupState{}}}, "a-db-1"},
		"one is silent":                {map[string]wire.NodeState{"a-db-0": first, "a-db-1": second}, ""},
		"the last one is silent":       {map[string]wire.NodeState{"a-db-0": first, "a-db-2": {Group: &wire.GroupState{}}}, ""},
		"the others name the last one": {map[string]wire.NodeState{"a-db-0": naming(first, "a-db-1"), "a-db-2": {Group: &wire.GroupState{NodeHistory: wire.NodeHistory{Leader: "a-db-1"}}}}, "a-db-1"},
	} {
		state := Driver{}.Assess(params(), answers(t, c.told))
		if got := strings.Join(state.Writers, " "); got != c.want || len(state.Silent) != 3-len(c.told) {
			t.Errorf("%s: writers %q, want %q; silent are %v", name, got, c.want, state.Silent)
		}
	}
	if state := (Driver{}).Assess(params(), answers(t, nil)); state.Known || state.Why == "" {
		t.Errorf("no agent answers, and the state is %+v", state)
	}
}

// TestAssessOfASwitchover: the member that was asked tells of it, and the one that took over when it did.
func TestAssessOfASwitchover(t *testing.T) {
	old, next := whole(false), whole(true)
	old.Group.Resigned = 1
	old.Group.Terms = []wire.WriterTerm{{From: moment(1), To: ptr(moment(20))}}
	old.Group.Switchovers = []wire.Switchover{
		{Name: "vain", From: "a-db-0", RequestedAt: moment(9), Outcome: wire.SwitchoverFailed, Why: "nobody took them"},
		{Name: "planned", From: "a-db-0", RequestedAt: moment(20), To: "a-db-1", Outcome: wire.SwitchoverDone},
	}
	next.Group.Terms = []wire.WriterTerm{{From: moment(21), After: "a-db-0", NoticedAt: ptr(moment(20)), Switchover: "planned"}}
	next.Group.Switchovers = []wire.Switchover{{Name: "next", From: "a-db-1", RequestedAt: moment(30)}}
	state := Driver{}.Assess(params(), answers(t, map[string]wire.NodeState{"a-db-0": old, "a-db-1": next, "a-db-2": whole(false)}))
	for name, want := range map[string]topology.Switchover{
		"vain":    {Clock: "a-db-0", RequestedAt: moment(9), OldWriter: "a-db-0", Outcome: topology.SwitchoverFailed, Why: "nobody took them"},
		"planned": {Clock: "a-db-0", RequestedAt: moment(20), OldWriter: "a-db-0", NewWriter: "a-db-1", Outcome: topology.SwitchoverDone},
		"next":    {Clock: "a-db-1", RequestedAt: moment(30), OldWriter: "a-db-1", Why: "no other member has said that it takes the writes"},
	} {
		want.Name = name
		got := state.Switchover(name)
		if got == nil || !got.RequestedAt.Equal(&want.RequestedAt) {
			t.Fatalf("%s: %+v", name, got)
		}
		if got.RequestedAt = want.RequestedAt; *got != want {
			t.Errorf("%+v, want %+v", *got, want)
		}
	}
	if len(state.Failovers) != 1 || !state.Failovers[0].Planned || state.Failovers[0].OldWriter != "a-db-0" {
		t.Errorf("failovers %+v", state.Failovers)
	}
	if settled, why := state.Settled(nil); !settled || state.Writers[0] != "a-db-1" {
		t.Errorf("not settled: %s; writers %v", why, state.Writers)
	}
	request := Driver{}.Switchover(params(), "planned", "a-db-0")
	if request.Method != "POST" || request.URL != "http://a-db-0.a-db.ns.svc.cluster.local:8300/switchover" || string(request.Body) != `{"name":"planned","from":"a-db-0"}` {
		t.Errorf("asked by %+v, %s", request, request.Body)
	}
}

func TestAPartThatIsCutOffIsBehind(t *testing.T) {
	cut := whole(false)
	cut.Group.View.Primary, cut.Group.View.Synced, cut.Group.CaughtUp, cut.Group.Why = false, false, false, "not in the primary component"
	state := Driver{}.Assess(params(), answers(t, map[string]wire.NodeState{"a-db-0": whole(true), "a-db-1": whole(false), "a-db-2": cut}))
	if n := state.Nodes[2]; n.Role != topology.Reader || n.CaughtUp || n.Why == "" {
		t.Errorf("the member that is cut off is %+v", n)
	}
	if settled, _ := state.Settled(nil); settled || state.Deployed {
		t.Error("settled or deployed with a member cut off")
	}
	if settled, why := state.Settled(map[string]topology.Leave{"a-db-2": topology.MayLag}); !settled {
		t.Errorf("not settled though it may lag: %s", why)
	}
}

func TestAllMembersWrite(t *testing.T) {
	p := params()
	p.WriteAll = true
	state := Driver{}.Assess(p, answers(t, map[string]wire.NodeState{"a-db-0": whole(true), "a-db-1": whole(true), "a-db-2": whole(true)}))
	if len(state.Writers) != 3 || state.OldServes {
		t.Errorf("writers %v, want all, and none that is an old one: %v", state.Writers, state.OldServes)
	}
}

func ptr[T any](v T) *T { return &v }

func TestNoGroupNameIsTooLong(t *testing.T) {
	p, seen := params(), map[string]bool{}
	for _, name := range []string{"a", strings.Repeat("a", 29), strings.Repeat("a", 30), strings.Repeat("a", 40)} {
		p.Name = name
		got := groupName(p)
		if len(got) > 32 || seen[got] {
			t.Errorf("experiment %s has the group %q", name, got)
		}
		seen[got] = true
	}
}

// TestReadsWaitWhereTheyAreToldTo, so that what they take is not taken for what a request takes alone.
func TestReadsWaitWhereTheyAreToldTo(t *testing.T) {
	for wait, want := range map[int32]bool{0: false, 1: true, 2: false, 3: true} {
		p := params()
		p.Spec.Galera = &v1alpha1.GaleraSpec{SyncWait: wait}
		s, err := Driver{}.System(p)
		if err != nil || s.ReadsWait != want {
			t.Errorf("with wsrep_sync_wait=%d reads wait: %t, %v", wait, s.ReadsWait, err)
		}
	}
}

// TestACommitWaitsForTheFarthestMember, so that the throughput of a stage has a bound.
func TestACommitWaitsForTheFarthestMember(t *testing.T) {
	for members, want := range map[int32]int64{1: 0, 2: 0, 3: 87_000} {
		p := params()
		p.Spec.Nodes = members
		p.Spec.Zones = []v1alpha1.Zone{{Name: "eu", Nodes: []int32{0, 1}}, {Name: "us", Nodes: []int32{2}}}
		p.Spec.Links = []v1alpha1.Link{{From: "eu", To: "us", RoundTripMilliseconds: 87}}
		s, err := Driver{}.System(p)
		if err != nil {
			t.Fatal(err)
		}
		if trip := topology.CommitRoundTrip(len(s.Nodes), 0, s.CommitWaits, topology.Asked(p.Spec)); trip != want {
			t.Errorf("with %d members a commit waits %d µs, want %d", members, trip, want)
		}
	}
}
