package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/enginetest"
	"replab.dev/internal/wire"
)

// shaky is a server whose first connections are lost. What these have shown by then is not what a later one shows.
type shaky struct {
	losses int // connections that are lost
	at     string
	opened int
	gone   bool // no new connection is had
}

// shakyConn is a connection with a shaky server.
type shakyConn struct {
	tables
	server *shaky
	lost   bool // while this connection is asked for what is at
	dead   bool
}

var errLost = errors.New("unexpected EOF")

func (s *shaky) open(context.Context, string, string) (Session, error) {
	s.opened++
	if s.opened > 1 && s.gone {
		return nil, errors.New("connection refused")
	}
	return &shakyConn{tables: tables{[]uint64{1, 2, 3}}, server: s, lost: s.opened <= s.losses}, nil
}

func (c *shakyConn) asked(what string) error {
	if c.lost && c.server.at == what {
		c.dead = true
	}
	if c.dead {
		return errLost
	}
	return nil
}

func (c *shakyConn) IDs(ctx context.Context, table, column string, visit func(uint64, bool) error) error {
	if err := c.asked("IDs of " + table); err != nil {
		_ = visit(1<<40, false) // of an older moment
		return err
	}
	return c.tables.IDs(ctx, table, column, visit)
}

func (c *shakyConn) Count(ctx context.Context, table string) (int64, error) {
	n, _ := c.tables.Count(ctx, table)
	return n, c.asked("Count")
}

func (c *shakyConn) Checksum(context.Context, string) (string, error) {
	return "7", c.asked("Checksum")
}

func (c *shakyConn) Executed(context.Context) (string, error) { return "own:1-3", c.asked("Executed") }

func (c *shakyConn) Own(context.Context) (bool, error) { return true, c.asked("Own") }

func (c *shakyConn) Unexecuted(_ context.Context, others string) (int64, error) {
	return int64(len(others)), c.asked("Unexecuted")
}

func (c *shakyConn) Ping(context.Context) error { return c.asked("Ping") }

func auditShaky(t *testing.T, hosts map[string]*shaky, nodes ...wire.AuditNode) wire.AuditResult {
	t.Helper()
	cfg := config(t, "", nodes...)
	cfg.Engine = "Shaky"
	var result wire.AuditResult
	lookup := engine.Lookup[Open]{"Shaky": func(ctx context.Context, host, password string) (Session, error) {
		return hosts[host].open(ctx, host, password)
	}}
	result = examine(t.Context(), cfg, lookup)
	return result
}

func TestALostConnectionIsReadAnew(t *testing.T) {
	for _, at := range []string{"IDs of users", "IDs of probe_writes", "Count", "Checksum", "Own", "Executed", "Unexecuted"} {
		for _, host := range []string{"primary", "old"} {
			t.Run(at+" of "+host, func(t *testing.T) {
				t.Parallel()
				hosts := map[string]*shaky{"primary": {}, "old": {}}
				hosts[host].losses, hosts[host].at = 1, at
				result := auditShaky(t, hosts,
					wire.AuditNode{Node: wire.Node{Name: "old", Host: "old"}, Role: wire.RoleIsolated, Checksum: true},
					wire.AuditNode{Node: wire.Node{Name: "primary", Host: "primary"}, Role: wire.RoleWriter, Checksum: true})
				if result.Failed != "" {
					t.Fatal(result.Failed)
				}
				want := []wire.AuditedNode{
					{
						Name: "old", Role: wire.RoleIsolated, Rows: number(3), Checksum: "7", Missing: number(0), Extra: number(0),
						ExtraProbeWrites: number(0), HoldsOwn: ptr.To(true), GhostTransactions: number(7),
					},
					{Name: "primary", Role: wire.RoleWriter, Rows: number(3), Checksum: "7"},
				}
				if diff := cmp.Diff(want, result.Nodes); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

func TestANodeThatIsLostForGoodSaysWhatWasTried(t *testing.T) {
	node := wire.AuditNode{Node: wire.Node{Name: "db-1", Host: "db-1.svc"}, Role: wire.RoleWriter}
	for name, c := range map[string]struct {
		server shaky
		opened int
		says   []string
	}{
		"every connection is lost": {shaky{losses: 99, at: "Count"}, readAttempts, []string{
			"node db-1 (db-1.svc): lost the connection 3 times, the last time: count the rows of table users: unexpected EOF",
		}},
		"no new connection is had": {shaky{losses: 1, at: "Count", gone: true}, 0, []string{
			"node db-1 (db-1.svc): lost the connection: count the rows of table users: unexpected EOF; then it gave no answer within 500ms: connection refused",
		}},
	} {
		result := auditShaky(t, map[string]*shaky{"db-1.svc": &c.server}, node)
		for _, says := range c.says {
			if !strings.Contains(result.Failed, says) {
				t.Errorf("%s: %q, want %q", name, result.Failed, says)
			}
		}
		if c.opened != 0 && c.server.opened != c.opened {
			t.Errorf("%s: %d connections, want %d", name, c.server.opened, c.opened)
		}
	}
}

// miscounted is a node whose index lacks a row.
type miscounted struct{ tables }

func (miscounted) Count(context.Context, string) (int64, error) { return 4, nil }

func TestWhatIsFoundIsNotReadAgain(t *testing.T) {
	opened := 0
	cfg := config(t, "", wire.AuditNode{Node: wire.Node{Name: "db-0", Host: "db-0"}, Role: wire.RoleWriter})
	cfg.Engine = "Miscounted"
	result := examine(t.Context(), cfg, engine.Lookup[Open]{"Miscounted": func(context.Context, string, string) (Session, error) {
		opened++
		return miscounted{tables{[]uint64{1, 2, 3}}}, nil
	}})
	if opened != 1 || !strings.Contains(result.Failed, "check the server for corruption") {
		t.Errorf("%d connections: %q", opened, result.Failed)
	}
}

// cutter passes connections on to a server. It cuts the first some off once the server has sent so many bytes.
func cutter(t *testing.T, to string, cuts int64, after int64) (address string, opened *atomic.Int64) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { l.Close() })
	opened = new(atomic.Int64)
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", to)
			if err != nil {
				client.Close()
				continue
			}
			limit := int64(1 << 40)
			if opened.Add(1) <= cuts {
				limit = after
			}
			go func() { _, _ = io.Copy(server, client); server.Close() }()
			go func() { _, _ = io.CopyN(client, server, limit); client.Close(); server.Close() }()
		}
	}()
	return l.Addr().String(), opened
}

func TestAServerThatIsCutOffWhileItIsReadIsReadAnew(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, flavor enginetest.Flavor) {
		primary := flavor.Start(t, "primary")
		primary.Open()
		fill(t, primary, writes, seeded, inTable)
		node := auditNode(primary, wire.RoleWriter)
		address, opened := cutter(t, node.Host, 1, 30_000)
		node.Host = address
		cfg := config(t, serveFile(t, writeLedger(t, writes)), node)
		cfg.Engine = flavor.Engine
		result := audit(t, cfg)
		if result.Failed != "" || result.Writes == nil || !result.Writes.Balanced || result.Writes.Lost != 0 || opened.Load() != 2 {
			t.Errorf("by %d connections: %q, %+v", opened.Load(), result.Failed, result.Writes)
		}
	})
}

// TestALedgerThatIsLostLateIsReadAnew: its first read takes longer than a recorder that does not answer is borne with.
func TestALedgerThatIsLostLateIsReadAnew(t *testing.T) {
	ledger := mustRead(t, writeLedger(t, writes))
	var asked atomic.Int64
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(len(ledger)))
		if asked.Add(1) > 1 {
			_, _ = w.Write(ledger)
			return
		}
		_, _ = w.Write(ledger[:16*1000])
		_ = http.NewResponseController(w).Flush()
		time.Sleep(700 * time.Millisecond)
	})
	source := newLedgerSource(url, 500*time.Millisecond)
	sets, err := source.load(t.Context())
	must(t, err)
	if n := sets.Acknowledged.Count(); n == 0 || asked.Load() != 2 {
		t.Errorf("%d acknowledged writes by %d reads", n, asked.Load())
	}
}
