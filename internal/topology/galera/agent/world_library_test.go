package agent

import (
	"fmt"
	"slices"
)

// modelServer is one life of a server.
type modelServer struct {
	life      int
	component *component
	last      *component // the last primary one that it was in
	joining   bool
}

func serverOf(life int) string { return fmt.Sprintf("server of life %d", life) }

type component struct {
	id      int
	view    int // grows with each primary component of a line
	members []*modelled
	lives   []int
	primary bool
	age     int64
}

// found makes a component primary because it was told to: no acknowledged commit may be missing in it.
func (w *world) found(c *component) {
	c.primary, c.id = true, w.number()
	var alive []*modelled
	for i, m := range c.members {
		if m.server != nil && m.server.life == c.lives[i] {
			alive = append(alive, m)
		}
	}
	most := slices.MaxFunc(alive, func(a, b *modelled) int { return len(a.data) - len(b.data) }).data
	if len(most) < len(w.commits)-1 {
		w.fail("%s begins at %d, %d commits were acknowledged", c.members[0].name, len(most), len(w.commits)-1)
	}
	for _, m := range alive {
		m.data = slices.Clone(most) // the others fetch what they lack
		if m.server.last != nil {
			c.view = max(c.view, m.server.last.view)
		}
	}
	c.view++
	for _, m := range alive {
		m.server.last = c
	}
}

// regroup has servers that reach each other meet, as their library does: all, or some only, if the others take longer to be found.
func (w *world) regroup(zone int, some bool) {
	var met []*modelled
	var latest *component
	found := map[*component]bool{}
	for _, m := range w.members {
		if m.server == nil || m.zone != zone {
			continue
		}
		c := m.server.component
		if _, drawn := found[c]; !drawn {
			found[c] = !some || w.rand.IntN(3) > 0
		}
		if !found[c] {
			continue
		}
		met = append(met, m)
		if l := m.server.last; l != nil && (latest == nil || l.view > latest.view) {
			latest = l
		}
	}
	if len(met) == 0 || w.unchanged(met) {
		return
	}
	c := &component{id: w.number()}
	alive := 0
	for _, m := range met {
		if m.server.joining && (latest == nil || !m.server.member(latest)) {
			continue
		}
		c.members, c.lives = append(c.members, m), append(c.lives, m.server.life)
		if latest != nil && slices.Contains(latest.lives, m.server.life) {
			alive++
		}
	}
	c.primary = latest != nil && 2*alive > len(latest.lives)
	if c.primary {
		w.receive(c, met, latest)
	}
	if len(c.members) == 0 {
		return
	}
	for _, m := range c.members {
		m.server.component = c
		if c.primary {
			m.server.last = c
		}
	}
	w.note("%v meet, primary %v", c.lives, c.primary)
}

func (s *modelServer) member(c *component) bool { return slices.Contains(c.lives, s.life) }

// unchanged tells whether those who meet are a component already, with nobody who waits to join it.
func (w *world) unchanged(met []*modelled) bool {
	c := met[0].server.component
	if c == nil || len(c.members) != len(met) {
		return false
	}
	for _, m := range met {
		if m.server.component != c {
			return false
		}
	}
	return true
}

// receive has all who meet in a primary component catch up with it, joiners too.
func (w *world) receive(c *component, met []*modelled, latest *component) {
	var most []int
	for _, m := range c.members {
		if slices.Contains(latest.lives, m.server.life) && len(m.data) >= len(most) {
			most = m.data
		}
	}
	for _, m := range met {
		if m.member && len(m.data) > len(most) {
			w.fail("%s holds %d and joins a component that is at %d", m.name, len(m.data), len(most))
		}
		for i, commit := range m.data {
			if commit != most[i] {
				w.fail("%s holds another commit %d than the component that it joins", m.name, i)
			}
		}
		m.data, m.member, m.server.joining = slices.Clone(most), true, false
		if !slices.Contains(c.members, m) {
			c.members, c.lives = append(c.members, m), append(c.lives, m.server.life)
		}
	}
	c.view = latest.view + 1
}

// commit acknowledges a commit once every member of the primary component has it.
func (w *world) commit(m *modelled) {
	if m.server == nil || m.server.component == nil || !m.server.component.primary {
		return
	}
	c := m.server.component
	for i, o := range c.members {
		if o.server == nil || o.server.life != c.lives[i] || o.zone != m.zone || o.server.component != c {
			return // it waits for ever
		}
	}
	if len(m.data) != len(w.commits)-1 {
		w.fail("%s commits number %d, number %d was acknowledged before: there are two groups", m.name, len(m.data)+1, len(w.commits)-1)
	}
	commit := w.number()
	w.commits = append(w.commits, commit)
	for _, o := range c.members {
		o.data = append(slices.Clone(o.data), commit)
	}
}

// settle lets so much time pass that servers which can meet have met, and that one which could not join has given up.
func (w *world) settle() {
	for zone := range zones {
		w.regroup(zone, false)
	}
	for _, m := range w.members {
		if m.server != nil && m.server.joining {
			w.kill(m)
		}
	}
	seen := map[*component]bool{}
	for _, m := range w.members {
		if m.server == nil || m.server.component == nil || seen[m.server.component] {
			continue
		}
		seen[m.server.component] = true
		m.server.component.age++
	}
}
