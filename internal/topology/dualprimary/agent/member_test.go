package agent

import (
	"context"
	"fmt"
	"testing"
	"time"

	"replab.dev/internal/agent/proc"
	"replab.dev/internal/engine"
	"replab.dev/internal/engine/enginetest"
	"replab.dev/internal/wire"
)

// TestAPairComesAndStaysTogether: the agents set two servers up, bring one back that was killed, and leave alone what stopped by an error.
func TestAPairComesAndStaysTogether(t *testing.T) { enginetest.Each(t, aPairComesAndStaysTogether) }

func aPairComesAndStaysTogether(t *testing.T, f enginetest.Flavor) {
	p := startPair(t, f)
	p.await(t, "both are placed", func(s [2]wire.PairState) bool { return whole(s) && s[0].Placed && s[1].Placed })
	for i, s := range p.servers {
		insert(t, s, 10+i)
	}
	p.await(t, "both have both rows", func(s [2]wire.PairState) bool {
		return whole(s) && s[0].Executed == s[1].Executed && s[0].Executed != ""
	})

	p.servers[0].Kill()
	p.await(t, "the first is away", func(s [2]wire.PairState) bool {
		return !s[0].Answers && len(s[0].Absences) == 1 && s[1].Writes && !s[1].CaughtUp
	})
	insert(t, p.servers[1], 20)
	p.servers[0].Run()
	p.await(t, "the first is back with the row", func(s [2]wire.PairState) bool { return whole(s) && s[0].Absences[0].BackAt != nil })
	if has(t, p.servers[0], 20) != 1 {
		t.Error("it was opened before it had what the other one had")
	}
	if s := p.states(); len(s[1].Absences) > 0 || len(s[0].Absences) != 1 {
		t.Errorf("absences: %+v", s)
	}

	p.servers[1].Exec("SET sql_log_bin=0; INSERT INTO social.probe_writes VALUES (30, 'other')")
	insert(t, p.servers[0], 30)
	p.await(t, "the second stops, and stays open", func(s [2]wire.PairState) bool {
		return s[1].Stopped != "" && s[1].Writes && !s[1].CaughtUp && s[0].Stopped == "" && s[0].CaughtUp
	})
	p.servers[1].Kill()
	p.servers[1].Run()
	p.await(t, "started anew it stays closed", func(s [2]wire.PairState) bool { return s[1].Stopped != "" && !s[1].Writes })
	if has(t, p.servers[1], 30) != 1 || p.states()[1].Writes {
		t.Errorf("%+v", p.states()[1])
	}
}

// TestAServerOpensAloneWhereTheOtherIsGone: a pair of which one never comes takes writes all the same.
func TestAServerOpensAloneWhereTheOtherIsGone(t *testing.T) {
	p := startPair(t, enginetest.Default)
	p.await(t, "both are placed", func(s [2]wire.PairState) bool { return s[0].Placed && s[1].Placed })
	p.servers[1].Kill()
	p.servers[0].Kill()
	p.servers[0].Run()
	p.await(t, "the first is open", func(s [2]wire.PairState) bool { return s[0].Writes && s[0].Absences[0].BackAt != nil && !s[0].Follows })
}

func whole(s [2]wire.PairState) bool {
	for _, x := range s {
		if !x.Writes || !x.Follows || !x.CaughtUp || x.Why != "" {
			return false
		}
	}
	return true
}

type pair struct {
	servers [2]*enginetest.Server
	members [2]*Member
}

// startPair starts two servers without data, and the agents' parts beside them.
func startPair(t *testing.T, f enginetest.Flavor) *pair {
	t.Helper()
	p := &pair{servers: f.StartPair(t, "node", true, enginetest.SemiSync(1, 500*time.Millisecond))}
	for i, s := range p.servers {
		other := p.servers[1-i]
		admin, err := f.Roles.Admin(engine.AdminParams{
			Host: "127.0.0.1", Port: s.Port, AdminPassword: enginetest.Password, ReplicationPassword: enginetest.Password, SemiSync: true, Pair: true,
		})
		must(t, err)
		argv, comm := s.Command()
		p.members[i], err = newMember(settings{
			semiSync: true, source: engine.Source{Name: other.Name, Host: "127.0.0.1", Port: other.Port}, position: f.Roles.Position,
			ask: func(context.Context) (state wire.NodeState, err error) { return state, p.members[1-i].Describe(&state) },
		}, admin, proc.NewFinder(comm, func(process []string) bool { return f.Roles.IsServer(argv, process) }), t.TempDir())
		must(t, err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan bool, 2)
	for _, m := range p.members {
		go func() { m.Run(ctx); ended <- true }()
	}
	t.Cleanup(func() {
		stop()
		<-ended
		<-ended
	})
	return p
}

func (p *pair) states() (s [2]wire.PairState) {
	for i, m := range p.members {
		s[i] = m.State()
	}
	return s
}

func (p *pair) await(t *testing.T, what string, is func([2]wire.PairState) bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !is(p.states()); time.Sleep(20 * time.Millisecond) { // between two looks
		if time.Now().After(deadline) {
			t.Fatalf("not within a minute: %s; %+v", what, p.states())
		}
	}
}

func insert(t *testing.T, s *enginetest.Server, id int) {
	t.Helper()
	_, err := s.DB(wire.AccountApp, wire.Database).Exec("INSERT INTO probe_writes VALUES (?, 'x')", id)
	must(t, err)
}

func has(t *testing.T, s *enginetest.Server, id int) (rows int) {
	t.Helper()
	must(t, s.DB(wire.AccountApp, wire.Database).QueryRow(fmt.Sprintf("SELECT COUNT(*) FROM probe_writes WHERE id = %d", id)).Scan(&rows))
	return rows
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
