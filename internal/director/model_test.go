package director

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/mysql/gtid"
	"replab.dev/internal/wire"
)

// model is an experiment of modelled servers in virtual time: what a director sees and does, without a database. Faults
// that would take hours with real servers are tried by the thousand.
type model struct {
	cfg     wire.DirectorConfig
	random  *rand.Rand
	servers map[string]*modelServer
	holder  string
	acked   gtid.Set // what clients were told is committed, replicated first
	written int64
	broken  string // the first invariant that did not hold

	looks map[string]observation // history
}

// modelServer is one server with its agent.
type modelServer struct {
	name       string
	alive      bool
	paused     bool
	cutOff     bool // from the director
	writable   bool
	leaseUntil time.Time
	knownUntil time.Time // as the director knows it
	executed   gtid.Set
	relay      gtid.Set
	source     string
	io, sql    bool
	clone      *cloneRun
	cloned     engine.CloneState
	process    int
	openedAs   int
}

func newModel(seed uint64) *model {
	m := &model{cfg: deployed().cfg, random: rand.New(rand.NewPCG(seed, 0)), servers: map[string]*modelServer{}, looks: map[string]observation{}}
	m.cfg.SemiSync = &wire.SemiSync{AckReplicas: 1}
	for _, n := range m.cfg.Nodes {
		m.servers[n.Name] = &modelServer{name: n.Name, alive: true, process: 1}
	}
	return m
}

// pass lets time pass on the servers' side: leases run out, replicas receive and apply, a client writes.
func (m *model) pass() {
	for _, n := range m.cfg.Nodes {
		s := m.servers[n.Name]
		if s.alive && !s.paused && s.writable && !time.Now().Before(s.leaseUntil) {
			s.writable = false // its agent does that
		}
	}
	for _, n := range m.cfg.Nodes {
		m.replicate(m.servers[n.Name])
	}
	for _, n := range m.cfg.Nodes {
		m.write(m.servers[n.Name])
	}
	m.checkLeases()
}

func (m *model) replicate(s *modelServer) {
	if !s.alive || s.paused {
		return
	}
	if source := m.servers[s.source]; s.io && source != nil && source.alive && !source.paused {
		s.relay = s.relay.Union(source.executed.Minus(s.executed))
	}
	if s.sql && m.random.IntN(3) > 0 { // it lags at times
		s.executed, s.relay = s.executed.Union(s.relay), gtid.Set{}
	}
}

// write commits a transaction and acknowledges it if a replica received it: semi-sync without a timeout.
func (m *model) write(s *modelServer) {
	if !s.alive || s.paused || !s.writable {
		return
	}
	m.written++
	id := span(m.written, m.written)
	s.executed = s.executed.Union(id)
	for _, n := range m.cfg.Nodes {
		r := m.servers[n.Name]
		if r.alive && !r.paused && r.io && r.source == s.name && m.random.IntN(4) > 0 {
			r.relay = r.relay.Union(s.executed.Minus(r.executed))
			m.acked = m.acked.Union(id)
		}
	}
}

func (m *model) checkLeases() {
	var open []string
	for _, n := range m.cfg.Nodes {
		if s := m.servers[n.Name]; s.alive && s.writable && time.Now().Before(s.leaseUntil) {
			open = append(open, n.Name)
		}
	}
	if len(open) > 1 && m.broken == "" {
		m.broken = fmt.Sprintf("%v are writable and have leases", open)
	}
}

func (m *model) observe(_ context.Context, state wire.DirectorState) view {
	m.pass()
	v := view{Nodes: map[string]observation{}}
	for _, n := range m.cfg.Nodes {
		s := m.servers[n.Name]
		if n.Name == state.Primary && s.alive && (s.paused || s.cutOff) {
			time.Sleep(time.Duration(m.cfg.TimeoutMilliseconds) * time.Millisecond) // of synctest's clock
			m.pass()
		}
	}
	for _, n := range m.cfg.Nodes {
		s, last := m.servers[n.Name], m.looks[n.Name]
		o := s.look(state)
		if o.lookFails() {
			o.FailedLooks, o.FailingSince = last.FailedLooks+1, last.FailingSince
			if last.FailedLooks == 0 {
				o.FailingSince = time.Now()
			}
		}
		o.ReceivedSince = last.ReceivedSince
		if o.Received.String() != last.Received.String() || o.ReceivedSince.IsZero() {
			o.ReceivedSince = time.Now()
		}
		if last.Answers {
			o.ExecutedBefore = last.Executed
		}
		o.LeaseLeft = max(0, time.Until(s.knownUntil))
		m.looks[n.Name], v.Nodes[n.Name] = o, o
	}
	v.Now = time.Now()
	return v
}

func (s *modelServer) look(state wire.DirectorState) observation {
	o := observation{IO: engine.ReceiverOff, Err: "does not answer", Clone: s.clone}
	if s.cutOff {
		return o
	}
	o.Agent = &wire.NodeState{}
	if s.alive {
		o.Agent.ServerPID = int64(s.process)
	}
	if !s.alive || s.paused {
		o.Replaced = s.alive && s.openedAs != 0 && s.openedAs != s.process
		return o
	}
	if s.name == state.Primary && state.Opened && s.writable {
		s.openedAs = s.process
	}
	o.Answers, o.Err, o.Writable, o.Source, o.SQLRunning = true, "", s.writable, s.source, s.sql
	o.Executed, o.Received, o.CloneState = engine.PositionOf(s.executed), engine.PositionOf(s.executed.Union(s.relay)), s.cloned
	o.SemiSyncSource, o.SemiSyncClients = true, 1
	o.Replaced = s.openedAs != 0 && s.openedAs != s.process
	if s.io {
		o.IO = engine.ReceiverOn
	}
	return o
}

func (m *model) do(_ context.Context, a act) error {
	time.Sleep(5 * time.Millisecond) // of synctest's clock
	m.pass()
	s := m.servers[a.Node]
	if !s.alive || s.paused || s.cutOff {
		if a.Kind == actFence && !s.cutOff {
			s.leaseUntil = time.Time{} // the agent hears it
			if !s.alive {
				return nil
			}
		}
		return fmt.Errorf("no answer")
	}
	switch a.Kind {
	case actOpen, actPromote:
		if a.Kind == actPromote {
			s.source, s.io, s.sql, s.relay = "", false, false, gtid.Set{}
		}
		s.lease(m.cfg)
		s.writable = true
	case actFence, actShut:
		s.writable, s.leaseUntil = false, time.Time{}
	case actAttach:
		s.source, s.io, s.sql, s.relay = a.From, true, true, gtid.Set{}
	case actStart:
		s.io, s.sql = true, true
	case actStop:
		s.io, s.sql = false, false
	case actStopReceiving:
		s.io = false
	case actStartApplying:
		s.sql = true
	case actClone:
		from := m.servers[a.From]
		s.executed, s.relay, s.source, s.io, s.sql = from.executed, gtid.Set{}, from.source, false, false
		s.clone, s.cloned = &cloneRun{Since: time.Now(), Done: true}, engine.CloneCompleted
		s.process++
	case actCatchUp, actSemiSyncSource:
	}
	m.checkLeases()
	return nil
}

func (s *modelServer) lease(cfg wire.DirectorConfig) {
	s.leaseUntil = time.Now().Add(time.Duration(cfg.LeaseMilliseconds) * time.Millisecond)
	s.knownUntil = s.leaseUntil
}

func (m *model) renewFor(name string) {
	m.holder = name
	if s := m.servers[name]; s != nil && !s.cutOff {
		s.lease(m.cfg)
	}
}

func (m *model) forgetClone(name string) { m.servers[name].clone = nil }

func (m *model) restart() {
	for _, s := range m.servers {
		s.knownUntil, s.openedAs, s.clone = time.Now().Add(time.Duration(m.cfg.LeaseMilliseconds)*time.Millisecond), 0, nil
	}
	m.looks = map[string]observation{}
}

// die and boot are a SIGKILL and the next start.
func (s *modelServer) die() { s.alive, s.paused = false, false }

func (s *modelServer) boot() {
	if !s.alive {
		s.alive, s.writable, s.io, s.sql, s.relay = true, false, false, false, gtid.Set{}
		s.process++
	}
}
