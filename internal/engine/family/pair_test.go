package family_test

import (
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/enginetest"
	"replab.dev/internal/engine/family/familytest"
	"replab.dev/internal/wire"
)

// TestServersReplicateFromEachOther: rows of either side reach the other, also after a server was killed. Only with the replicas' updates in
// the log does a server get its own changes back.
func TestServersReplicateFromEachOther(t *testing.T) {
	enginetest.Each(t, serversReplicateFromEachOther)
}

func serversReplicateFromEachOther(t *testing.T, f familytest.Flavor) {
	sent := map[bool]int64{}
	for _, logs := range []bool{true, false} {
		for _, semiSync := range []bool{false, true} {
			name := fmt.Sprintf("logReplicaUpdates=%t,semiSync=%t", logs, semiSync)
			t.Run(name, func(t *testing.T) {
				var opts []familytest.Option
				if semiSync {
					opts = append(opts, familytest.SemiSync(1, 20*time.Second))
				}
				p := startPair(t, f, logs, semiSync, opts...)
				p.runsAsExpected(t, engine.Settings{Pair: &engine.Pair{LogReplicaUpdates: logs}})
				const rows = 300
				p.register(t, 0, "a", rows)
				p.agree(t, rows)
				if !semiSync {
					sent[logs] = p.back.Load()
				}
				p.register(t, 1, "b", rows)
				p.agree(t, 2*rows)
				before := p.back.Load()
				p.servers[0].Kill()
				if !semiSync { // else each commit would wait for its timeout
					p.register(t, 1, "c", rows)
				}
				p.servers[0].Run()
				must(t, p.admins[0].Turn(t.Context(), engine.StartBoth))
				p.open(t, semiSync)
				p.register(t, 0, "d", rows)
				p.agree(t, -1)
				t.Logf("%s: back in the first rows %d bytes, after the restart %d", name, sent[logs], p.back.Load()-before)
			})
		}
	}
	if sent[false]*20 > sent[true] {
		t.Errorf("%d bytes came back without the replicas' updates in the log, and %d with them", sent[false], sent[true])
	}
}

// pair of servers under test. back counts what the second sends to the first as its source.
type pair struct {
	servers [2]*familytest.Server
	admins  [2]engine.Admin
	back    *atomic.Int64
}

func startPair(t *testing.T, f familytest.Flavor, logs, semiSync bool, opts ...familytest.Option) *pair {
	t.Helper()
	p := &pair{servers: f.StartPair(t, "node", logs, opts...), back: new(atomic.Int64)}
	ports := [2]int{counted(t, p.servers[1].Port, p.back), p.servers[0].Port} // of the sources
	for i, s := range p.servers {
		var err error
		p.admins[i], err = f.OpenAdmin(engine.AdminParams{
			Host: "127.0.0.1", Port: s.Port, AdminPassword: familytest.Password, ReplicationPassword: familytest.Password, SemiSync: semiSync, Pair: true,
		})
		must(t, err)
		t.Cleanup(func() { p.admins[i].Close() })
		must(t, p.admins[i].Attach(t.Context(), engine.Source{Host: "127.0.0.1", Port: ports[i]}))
	}
	p.open(t, semiSync)
	return p
}

// runsAsExpected compares what the servers report with what the settings expect.
func (p *pair) runsAsExpected(t *testing.T, settings engine.Settings) {
	t.Helper()
	for i, s := range p.servers {
		for _, e := range s.Flavor.Roles.Expected(settings) {
			var name, value string
			must(t, s.DB(wire.AccountAdmin, "").QueryRow("SHOW GLOBAL VARIABLES WHERE Variable_name = ?", e.Name).Scan(&name, &value))
			if value != e.Value {
				t.Errorf("server %d has %s=%s, want %s", i, name, value, e.Value)
			}
		}
	}
}

// open both servers once they replicate.
func (p *pair) open(t *testing.T, semiSync bool) {
	t.Helper()
	for i := range p.servers {
		p.await(t, "both replicate", func() bool { l := p.look(t, i); return l.Receiver == engine.ReceiverOn && l.Applying })
		must(t, p.admins[i].AwaitReplicas(t.Context()))
		must(t, p.admins[i].Open(t.Context()))
	}
	for i := range p.servers {
		p.await(t, "each acknowledges", func() bool { return !semiSync || p.look(t, i).Acknowledgers == 1 })
	}
}

func (p *pair) look(t *testing.T, i int) engine.Look {
	t.Helper()
	l, err := p.admins[i].Look(t.Context(), engine.Question{Acknowledgers: true})
	must(t, err)
	return l
}

func (p *pair) await(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !is(); time.Sleep(10 * time.Millisecond) { // between two looks
		if time.Now().After(deadline) {
			t.Fatalf("not within a minute: %s; %+v, %+v", what, p.look(t, 0), p.look(t, 1))
		}
	}
}

// register inserts rows of a kilobyte, with ids that the server gives.
func (p *pair) register(t *testing.T, at int, name string, rows int) {
	t.Helper()
	app := p.servers[at].DB(wire.AccountApp, wire.Database)
	for range rows {
		_, err := app.Exec("INSERT INTO users (first_name, last_name, biography, password) VALUES (?, 'x', ?, 'x')", name, strings.Repeat("b", 1000))
		must(t, err)
	}
	var wrong int
	must(t, app.QueryRow("SELECT COUNT(*) FROM users WHERE first_name = ? AND id % 2 <> ?", name, (at+1)%2).Scan(&wrong))
	if wrong > 0 {
		t.Errorf("%d ids of server %d are of the other's", wrong, at)
	}
}

// agree waits until both have executed the same, and compares the rows.
func (p *pair) agree(t *testing.T, rows int) {
	t.Helper()
	p.await(t, "both have executed the same", func() bool {
		a, b := p.look(t, 0).Executed, p.look(t, 1).Executed
		return a.Contains(b) && b.Contains(a)
	})
	var sums [2]string
	for i, s := range p.servers {
		var count int
		must(t, s.DB(wire.AccountApp, wire.Database).QueryRow("SELECT COUNT(*), COALESCE(SUM(CRC32(CONCAT_WS(',', id, first_name, biography))), 0) FROM users").Scan(&count, &sums[i]))
		if rows >= 0 && count != rows {
			t.Errorf("server %d has %d rows, want %d", i, count, rows)
		}
	}
	if sums[0] != sums[1] {
		t.Error("the rows differ")
	}
}

// counted is a port that leads to another one, and counts what comes back from it.
func counted(t *testing.T, port int, back *atomic.Int64) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer client.Close()
				server, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
				if err != nil {
					return
				}
				defer server.Close()
				go func() {
					_, _ = io.Copy(server, client)
					server.Close()
				}()
				_, _ = io.Copy(client, io.TeeReader(server, counter{back}))
			}()
		}
	}()
	return l.Addr().(*net.TCPAddr).Port
}

type counter struct{ sum *atomic.Int64 }

func (c counter) Write(b []byte) (int, error) {
	c.sum.Add(int64(len(b)))
	return len(b), nil
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
