package audit

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"replab.dev/internal/engine/enginetest"
	"replab.dev/internal/wire"
	"replab.dev/test/halt"
)

// TestNodesAreComparedWithThePrimary takes a replica through its life: level, cut off while both sides write, silent.
func TestNodesAreComparedWithThePrimary(t *testing.T) { enginetest.Each(t, nodesAreCompared) }

func nodesAreCompared(t *testing.T, flavor enginetest.Flavor) {
	primary, other := flavor.Start(t, "primary"), flavor.Start(t, "other")
	config := func(t testing.TB, url string, nodes ...wire.AuditNode) wire.AuditConfig {
		c := config(t, url, nodes...)
		c.Engine = flavor.Engine
		return c
	}
	primary.Open()
	other.Replicate(primary)
	fill(t, primary, writes, seeded, inTable)
	primary.Exec("INSERT INTO social.probe_writes VALUES (1, 'x'), (2, 'x'), (70000000000, 'x')")
	other.CatchUp(primary)
	url := serveFile(t, writeLedger(t, writes))
	rows := count(inTable) + seeded

	check := func(name string, role wire.Role, want wire.AuditedNode) {
		t.Helper()
		result := audit(t, config(t, url, auditNode(other, role), auditNode(primary, wire.RoleWriter)))
		want.Name, want.Role = "other", role
		if diff := cmp.Diff(want, result.Nodes[0]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if result.Failed != "" || result.Writes == nil {
			t.Errorf("%s: failed %q, writes %v", name, result.Failed, result.Writes)
		}
	}
	check("a replica that is level", wire.RoleReader, wire.AuditedNode{
		Rows: number(rows), Missing: number(0), Extra: number(0), ExtraProbeWrites: number(0), HoldsOwn: ptr.To(false),
	})
	check("a level node taken for an old primary", wire.RoleIsolated, wire.AuditedNode{
		Rows: number(rows), Missing: number(0), Extra: number(0), ExtraProbeWrites: number(0), HoldsOwn: ptr.To(false), GhostTransactions: number(0),
	})

	other.Exec("STOP REPLICA; RESET REPLICA ALL")
	other.Open()
	other.Exec(insert("10") + insert("20001") + insert("1099511627776") + // one transaction each
		"INSERT INTO social.probe_writes VALUES (70000000001, 'x'), (3, 'x');" +
		named[flavor.Engine] + insert("20002"))
	primary.Exec(insert("20001") + remove([]uint64{3, 4}) + "INSERT INTO social.probe_writes VALUES (4, 'x')")
	check("an old primary with ghosts", wire.RoleIsolated, wire.AuditedNode{
		Rows: number(rows + 4), Missing: number(0), Extra: number(5), ExtraProbeWrites: number(2), HoldsOwn: ptr.To(true), GhostTransactions: number(5),
	})
	primary.Exec(insert("30000") + insert("30001"))
	check("a node that lags", wire.RoleReader, wire.AuditedNode{
		Rows: number(rows + 4), Missing: number(2), Extra: number(5), ExtraProbeWrites: number(2), HoldsOwn: ptr.To(true),
	})
	result := audit(t, config(t, url, auditNode(primary, wire.RoleWriter), auditNode(other, wire.RoleWriter)))
	if a, b := result.Nodes[0], result.Nodes[1]; a.Extra != nil || b.Missing == nil || *b.Missing != 2 || b.Extra == nil || *b.Extra != 5 {
		t.Errorf("of two nodes that take writes the second is compared with the first: %+v and %+v", a, b)
	}
	nodesThatDoNotAnswer(t, primary, other, url, config)
}

// named gives what follows another kind of name, where the engine has one.
var named = map[string]string{"MySQL": "SET gtid_next='AUTOMATIC:ghosts';", "MariaDB": "SET gtid_domain_id=1;"}

func nodesThatDoNotAnswer(t *testing.T, primary, other *enginetest.Server, url string,
	config func(testing.TB, string, ...wire.AuditNode) wire.AuditConfig,
) {
	halt.Process(t, other.Process().Pid)
	for name, role := range map[string]wire.Role{"a paused node": wire.RoleReader, "a paused old primary": wire.RoleIsolated} {
		result := audit(t, config(t, url, auditNode(primary, wire.RoleWriter), auditNode(other, role)))
		wantUnread(t, name, result.Nodes[1], "node other")
		if result.Failed != "" || result.Writes == nil {
			t.Errorf("%s: failed %q, writes %v: the primary alone decides", name, result.Failed, result.Writes)
		}
	}
	result := audit(t, config(t, url, auditNode(primary, wire.RoleReader), auditNode(other, wire.RoleWriter)))
	wantFailed(t, "a paused primary", result, "node other")
	if n := result.Nodes[0]; n.Rows == nil || n.Missing != nil || n.Extra != nil || !strings.Contains(n.Failed, "not compared") {
		t.Errorf("a replica without a primary to compare with: %+v", n)
	}
	other.Kill()
	result = audit(t, config(t, url, auditNode(other, wire.RoleDown), auditNode(primary, wire.RoleWriter)))
	wantUnread(t, "a dead node", result.Nodes[0], "connection refused")
}

func TestWithoutLedgerOrPrimaryThereAreNoFigures(t *testing.T) {
	primary := enginetest.Start(t, "primary")
	primary.Open()
	fill(t, primary, writes, seeded, inTable)
	path := writeLedger(t, writes)
	whole := mustRead(t, path)
	damaged := slices.Clone(whole)
	damaged[16*100+3] ^= 4
	node := auditNode(primary, wire.RoleWriter)
	answer := func(status int, body []byte) string {
		return serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status); _, _ = w.Write(body) })
	}
	for name, c := range map[string]struct {
		url, want string
		nodes     []wire.AuditNode
	}{
		"a ledger that is not closed yet": {answer(409, []byte("finish first")), "409 Conflict: finish first", []wire.AuditNode{node}},
		"a damaged ledger":                {answer(200, damaged), "offset 1600: checksum", []wire.AuditNode{node}},
		"an empty ledger":                 {answer(200, nil), "no header", []wire.AuditNode{node}},
		"a ledger cut short on its way": {serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(len(whole)))
			_, _ = w.Write(whole[:16*1000])
		}), "unexpected EOF", []wire.AuditNode{node}},
		"another's ledger": {serve(t, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, serveFile(t, path), http.StatusFound)
		}), "302 Found", []wire.AuditNode{node}},
		"no recorder": {"http://127.0.0.1:1/ledger", "connection refused", []wire.AuditNode{node}},
		"no primary":  {serveFile(t, path), "no node is the primary", []wire.AuditNode{auditNode(primary, wire.RoleReader)}},
	} {
		wantFailed(t, name, audit(t, config(t, c.url, c.nodes...)), c.want)
	}

	lateRecorder(t, path, node)

	cfg := config(t, serveFile(t, path), node)
	cfg.Engine = "Paradox"
	wantFailed(t, "an unknown engine", audit(t, cfg), `engine "Paradox"`)
	cfg.Engine, cfg.SecretDir = "MySQL", t.TempDir()
	wantFailed(t, "no password", audit(t, cfg), "replab_probe")

	primary.Exec("DROP TABLE social.users")
	wantFailed(t, "no table", audit(t, config(t, serveFile(t, path), node)), "node primary: read column write_id of table users")
}

// lateRecorder answers the first request with an error, as while it starts.
func lateRecorder(t *testing.T, path string, node wire.AuditNode) {
	asked := 0
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if asked++; asked == 1 {
			http.Error(w, "not yet", http.StatusServiceUnavailable)
			return
		}
		http.ServeFile(w, r, path)
	})
	cfg := config(t, url, node)
	cfg.ConnectTimeoutMilliseconds = 60_000
	if result := audit(t, cfg); result.Failed != "" || result.Writes.Lost != 0 || !result.Writes.Balanced {
		t.Errorf("a recorder that is late: failed %q, writes %+v", result.Failed, result.Writes)
	}
}

func wantFailed(t *testing.T, name string, result wire.AuditResult, why string) {
	t.Helper()
	if !strings.Contains(result.Failed, why) || result.Writes != nil {
		t.Errorf("%s: failed %q, writes %v, want %q and none", name, result.Failed, result.Writes, why)
	}
}

func wantUnread(t *testing.T, name string, n wire.AuditedNode, why string) {
	t.Helper()
	if !strings.Contains(n.Failed, why) || n.Rows != nil || n.Missing != nil || n.Extra != nil || n.GhostTransactions != nil || n.ExtraProbeWrites != nil {
		t.Errorf("%s: %+v, want no figures and why: %q", name, n, why)
	}
}

func number(n int64) *int64 { return &n }
