package agent

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"replab.dev/internal/wire"
)

const line = "h"

func at(n int64) wire.GroupPosition { return wire.GroupPosition{History: line, Sequence: n} }

func nodes(n int) []wire.Node {
	var all []wire.Node
	for i := range n {
		all = append(all, wire.Node{Name: fmt.Sprintf("m%d", i)})
	}
	return all
}

// What agents answer.

func silent() Answer { return Answer{Err: errors.New("connection refused")} }

func waits(p wire.GroupPosition) Answer {
	return Answer{State: &wire.NodeState{Group: &wire.GroupState{Start: &wire.GroupStart{Phase: wire.GroupGathering, Position: p}}}}
}

func starts(p wire.GroupPosition) Answer {
	h := waits(p)
	h.State.Group.Start.Phase = wire.GroupStarting
	return h
}

func runs(v wire.GroupView) Answer {
	return Answer{State: &wire.NodeState{ServerPID: 7, Group: &wire.GroupState{View: &v, Start: &wire.GroupStart{Phase: wire.GroupStarting}}}}
}

// apart is what a server says, the first of these, that is connected with the others: it knows their servers, and no name but its own.
func apart(n, stable int64, members ...string) wire.GroupView {
	v := wire.GroupView{Component: strings.Join(members, ","), Position: at(n), StableMilliseconds: stable, Server: "server of " + members[0]}
	for i, m := range members {
		v.Servers = append(v.Servers, "server of "+m)
		if i > 0 {
			m = "unspecified"
		}
		v.Members = append(v.Members, m)
	}
	return v
}

func primary(n int64, members ...string) wire.GroupView {
	return wire.GroupView{
		Primary: true, Component: strings.Join(members, ","), Members: members, Synced: true, Serves: true, Position: at(n), StableMilliseconds: 60000,
	}
}

func TestDecide(t *testing.T) {
	none := wire.GroupPosition{}
	other := wire.GroupPosition{History: "other", Sequence: 3}
	running := func(v wire.GroupView) Standing { return Running(v) }
	answers := Answer{State: &wire.NodeState{ServerPID: 7, Group: &wire.GroupState{}}}
	for name, c := range map[string]struct {
		self   int
		own    Standing
		others []Answer // the entry of self is not used
		want   Act
	}{
		"nobody has data: the first begins":            {0, Waiting(none), []Answer{{}, waits(none), waits(none)}, Begin},
		"nobody has data: the others wait":             {1, Waiting(none), []Answer{waits(none), {}, waits(none)}, Wait},
		"the first waits for one that does not answer": {0, Waiting(none), []Answer{{}, waits(none), silent()}, Wait},
		"the furthest begins":                          {1, Waiting(at(9)), []Answer{waits(at(8)), {}, waits(at(7))}, Begin},
		"one that is behind waits":                     {0, Waiting(at(8)), []Answer{{}, waits(at(9)), waits(at(7))}, Wait},
		"of equals the first begins":                   {0, Waiting(at(9)), []Answer{{}, waits(at(9)), waits(at(9))}, Begin},
		"of equals the second waits":                   {1, Waiting(at(9)), []Answer{waits(at(9)), {}, waits(at(9))}, Wait},
		"one without data does not begin":              {0, Waiting(none), []Answer{{}, waits(at(1)), waits(none)}, Wait},
		"the furthest waits for one that is silent":    {1, Waiting(at(9)), []Answer{waits(at(8)), {}, silent()}, Wait},
		"a primary component is joined":                {0, Waiting(at(8)), []Answer{{}, runs(primary(9, "m1", "m2")), runs(primary(9, "m1", "m2"))}, Join},
		"it is joined though one is silent":            {0, Waiting(at(8)), []Answer{{}, runs(primary(9, "m1")), silent()}, Join},
		"a component that counts one which says that it is apart, and the dead, is none": {
			0, Waiting(at(8)), []Answer{{}, runs(apart(9, 60000, "m1")), runs(primary(9, "m0", "m1", "m2"))}, Wait,
		},
		"a component that still counts the dead is none": {
			0, Waiting(at(8)), []Answer{{}, {State: &wire.NodeState{Group: &wire.GroupState{}}}, runs(primary(9, "m0", "m1", "m2"))}, Wait,
		},
		"unless most of it are alive": {
			0, Waiting(at(8)), []Answer{{}, runs(primary(9, "m0", "m1", "m2")), runs(primary(9, "m0", "m1", "m2"))}, Join,
		},
		"a server that is being started may be primary": {
			2, Waiting(at(9)), []Answer{waits(at(8)), starts(at(7)), {}}, Wait,
		},
		"so may one that does not answer yet": {2, Waiting(at(9)), []Answer{waits(at(8)), answers, {}}, Wait},
		"and a wrapper that knows no position": {
			2, Waiting(at(9)), []Answer{waits(at(8)), {State: &wire.NodeState{Group: &wire.GroupState{}}}, {}}, Wait,
		},
		"and an agent without a group": {2, Waiting(at(9)), []Answer{waits(at(8)), {State: &wire.NodeState{}}, {}}, Wait},
		"two histories are nobody's to choose from": {
			0, Waiting(at(9)), []Answer{{}, waits(other), waits(none)}, Wait,
		},
		"the furthest begins beside one that is apart and behind": {
			0, Waiting(at(9)), []Answer{{}, runs(apart(8, 5000, "m1")), waits(at(9))}, Begin,
		},
		"one that is apart comes before an equal that is stopped": {
			0, Waiting(at(9)), []Answer{{}, runs(apart(9, 5000, "m1")), waits(at(9))}, Wait,
		},
		"one that is apart has its component become primary": {
			1, running(apart(9, 5000, "m1")), []Answer{waits(at(9)), {}, waits(at(8))}, Begin,
		},
		"but not while a stopped one is further": {
			1, running(apart(8, 5000, "m1")), []Answer{waits(at(9)), {}, waits(at(8))}, Wait,
		},
		"nor before it is stable": {
			1, running(apart(9, 4999, "m1")), []Answer{waits(at(9)), {}, waits(at(8))}, Wait,
		},
		"nor while another is silent": {
			1, running(apart(9, 5000, "m1")), []Answer{waits(at(9)), {}, silent()}, Wait,
		},
		"nor beside a server that it has not met": {
			1, running(apart(9, 5000, "m1")), []Answer{waits(at(9)), {}, runs(apart(8, 5000, "m2"))}, Wait,
		},
		"of two that have met the first acts": {
			1, running(apart(9, 5000, "m1", "m2")), []Answer{waits(at(9)), {}, runs(apart(9, 5000, "m2", "m1"))}, Begin,
		},
		"and the second does not": {
			2, running(apart(9, 5000, "m2", "m1")), []Answer{waits(at(9)), runs(apart(9, 5000, "m1", "m2")), {}}, Wait,
		},
		"nobody begins beside two that have not met": {
			0, Waiting(at(9)), []Answer{{}, runs(apart(8, 5000, "m1")), runs(apart(8, 5000, "m2"))}, Wait,
		},
		"nor beside one that counts a dead one in": {
			0, Waiting(at(9)), []Answer{{}, runs(apart(8, 5000, "m1", "m2")), waits(at(8))}, Wait,
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := Decide(c.self, Standings(nodes(3), c.self, c.own, c.others))
			if d.Act != c.want {
				t.Errorf("got act %d (%s), want %d", d.Act, d.Why, c.want)
			}
			if d.Why == "" {
				t.Error("no reason is given")
			}
		})
	}
}

// TestWhomAServerIsConnectedWithIsNamed by what the members tell of their servers, since it knows no names.
func TestWhomAServerIsConnectedWithIsNamed(t *testing.T) {
	for want, others := range map[string][]Answer{
		"that of m2 is connected with those of [m2] and with 0 unknown ones":    {{}, runs(apart(8, 5000, "m1", "m2")), runs(apart(8, 5000, "m2"))},
		"that of m1 is connected with those of [m1] and with 1 unknown ones":    {{}, runs(apart(8, 5000, "m1", "m2")), waits(at(8))},
		"that of m1 is connected with those of [m1 m2] and with 1 unknown ones": {{}, runs(apart(8, 5000, "m1", "m2", "gone")), runs(apart(8, 5000, "m2", "m1"))},
	} {
		if d := Decide(0, Standings(nodes(3), 0, Waiting(at(9)), others)); d.Act != Wait || !strings.Contains(d.Why, want) {
			t.Errorf("act %d, %s, want %s", d.Act, d.Why, want)
		}
	}
}
