package agent

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"replab.dev/internal/wire"
)

// zones that members may be in.
const zones = 3

// world is a model of a group: servers with their library's rule of the majority, start wrappers and agents that decide by this package,
// and a network. What happens next is drawn by lot; answers may be as old as can be when they are acted upon.
type world struct {
	t       *testing.T
	rand    *rand.Rand
	members []*modelled
	commits []int // by sequence number: which commit it is
	next    int   // number of the next commit, component, life
	clock   time.Time
	log     []string
}

type modelled struct {
	name   string
	zone   int   // members of one zone reach each other
	data   []int // the commits that it holds, in their order; nil: it never was in the group
	member bool  // its data belong to the group
	waits  bool  // its start wrapper tells its position
	server *modelServer
	// what its wrapper, or its agent, has heard in the round that is under way
	answers []Answer
	asked   int
	catchUp catchUp
	// what its agent heard when it compared itself with the others last: who of its component serves, and how many commits they had
	met  []string
	goal int
}

func newWorld(t *testing.T, n int, seed uint64) *world {
	w := &world{t: t, rand: rand.New(rand.NewPCG(seed, seed)), commits: []int{0}, next: 1}
	for i := range n {
		w.members = append(w.members, &modelled{name: fmt.Sprintf("m%d", i)})
	}
	return w
}

func (w *world) number() int { w.next++; return w.next }

func (w *world) note(format string, args ...any) {
	w.log = append(w.log, fmt.Sprintf(format, args...))
}

func (w *world) fail(format string, args ...any) {
	w.t.Helper()
	for _, line := range w.log[max(0, len(w.log)-60):] {
		w.t.Log(line)
	}
	w.t.Fatalf(format, args...)
}

func (m *modelled) position() wire.GroupPosition {
	if !m.member {
		return wire.GroupPosition{}
	}
	return wire.GroupPosition{History: "h", Sequence: int64(len(m.data))}
}

func (m *modelled) view() *wire.GroupView {
	c := m.server.component
	if c == nil {
		return nil
	}
	v := wire.GroupView{Primary: c.primary, Component: fmt.Sprint(c.id), Position: m.position(), Synced: true, Serves: c.primary, StableMilliseconds: c.age * stableMilliseconds}
	v.Server = serverOf(m.server.life)
	for i, o := range c.members {
		name := o.name
		if !c.primary && o != m {
			name = "unspecified" // as the library has it, since its members have not exchanged their states
		}
		v.Members, v.Servers = append(v.Members, name), append(v.Servers, serverOf(c.lives[i]))
	}
	return &v
}

// told is what the member's agent answers now.
func (m *modelled) told() *wire.NodeState {
	s := &wire.NodeState{Group: &wire.GroupState{}}
	switch {
	case m.server != nil:
		s.ServerPID, s.Group.View = int64(m.server.life), m.view()
	case m.waits:
		s.Group.Start = &wire.GroupStart{Phase: wire.GroupGathering, Position: m.position()}
	}
	return s
}

// step draws what happens next.
func (w *world) step() {
	m := w.members[w.rand.IntN(len(w.members))]
	switch n := w.rand.IntN(200); {
	case n < 110:
		w.decide(m)
	case n < 120:
		w.compare(m)
	case n < 160:
		w.commit(m)
	case n < 174:
		w.regroup(m.zone, true)
	case n < 179:
		w.settle()
	case n < 183:
		w.kill(m)
	case n < 185:
		m.zone = w.rand.IntN(zones)
		w.note("%s moves to zone %d", m.name, m.zone)
	case n < 191: // cut into pieces for so long that everybody notices
		for _, m := range w.members {
			m.zone = w.rand.IntN(zones)
		}
		w.settle()
		w.note("the network falls apart")
	case n < 199:
		for _, m := range w.members {
			m.zone = 0
		}
		w.note("the network heals")
	default:
		for _, m := range w.members {
			w.kill(m)
		}
	}
}

// kill ends the server and all that its wrapper and its agent knew; a new wrapper waits.
func (w *world) kill(m *modelled) {
	if m.server != nil {
		w.note("%s is killed at %d", m.name, len(m.data))
	}
	m.server, m.answers, m.asked, m.waits = nil, nil, 0, w.rand.IntN(3) > 0
	m.catchUp, m.met = catchUp{}, nil
}

// compare has a member's agent compare its server with what it heard before, and hear the others anew.
func (w *world) compare(m *modelled) {
	if m.server == nil {
		return
	}
	asked, now := w.clock.Add(time.Second), w.clock.Add(2*time.Second)
	w.clock = now
	own, answers := m.view(), make([]Answer, len(w.members))
	for i, o := range w.members {
		if o.zone == m.zone && o != m {
			answers[i].State = o.told()
		}
	}
	m.catchUp.follow(own, asked, answers, now)
	if m.catchUp.caught && len(own.Members) > 1 && (len(m.met) == 0 || len(m.data) < m.goal) {
		w.fail("%s has caught up at %d with %v, who had %d", m.name, len(m.data), m.met, m.goal)
	}
	m.met, m.goal = nil, 0
	for i, o := range w.members {
		if g := answers[i].group(); g != nil && own != nil && g.View.Component == own.Component && g.View.Serves {
			m.met, m.goal = append(m.met, o.name), max(m.goal, len(o.data))
		}
	}
}

// decide goes on with the member's round by one question, and acts on it once it is complete.
func (w *world) decide(m *modelled) {
	if m.server == nil && !m.waits {
		m.waits = true
		return
	}
	if m.answers == nil {
		m.answers, m.asked = make([]Answer, len(w.members)), 0
	}
	if m.asked < len(w.members) {
		if o := w.members[m.asked]; o.zone == m.zone {
			m.answers[m.asked].State = o.told()
		} else {
			m.answers[m.asked].Err = fmt.Errorf("cut off")
		}
		m.asked++
		return
	}
	answers, self := m.answers, slices.Index(w.members, m)
	m.answers = nil
	if m.server == nil {
		d := Decide(self, Standings(nodes(len(w.members)), self, Waiting(m.position()), answers))
		w.start(m, d)
		return
	}
	v := answers[self].State.Group.View // as it was when the round came to itself
	if v == nil || v.Primary {
		return
	}
	if d := Decide(self, Standings(nodes(len(w.members)), self, Running(*v), answers)); d.Act == Begin {
		c := m.server.component
		if c != nil && fmt.Sprint(c.id) == v.Component && !c.primary { // TakeOver looks again
			w.note("%s has its component of %v become primary at %d", m.name, v.Members, len(m.data))
			w.found(c)
		}
	}
}

func (w *world) start(m *modelled, d Decision) {
	switch d.Act {
	case Join:
		w.note("%s starts to join", m.name)
		m.server, m.waits = &modelServer{life: w.number(), joining: true}, false
	case Begin:
		w.note("%s begins alone at %d: %s", m.name, len(m.data), d.Why)
		m.server, m.waits, m.member = &modelServer{life: w.number()}, false, true
		c := &component{members: []*modelled{m}, lives: []int{m.server.life}}
		m.server.component = c
		w.found(c)
	}
}
