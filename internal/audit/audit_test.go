package audit

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"replab.dev/internal/engine/enginetest"
	"replab.dev/internal/wire"
)

// mutation changes the table behind the ledger's back; wantLost and the other fields are what the audit must then find,
// as changes against the untouched table.
type mutation struct {
	statements                        string
	lost                              []uint64
	recovered, unexpected, duplicates int64
	seeds                             int64 // seeded rows more or fewer
}

func mutations() map[string]mutation {
	someAcknowledged := pick(1000, acknowledged)
	hidden, found := someAcknowledged[0], pick(1, func(id uint64) bool { return indeterminate(id) && !inTable(id) })[0]
	vanished := fmt.Sprint(found)
	return map[string]mutation{
		"nothing":                        {},
		"1 acknowledged row deleted":     {statements: remove(someAcknowledged[:1]), lost: someAcknowledged[:1]},
		"10 acknowledged rows deleted":   {statements: remove(someAcknowledged[:10]), lost: someAcknowledged[:10]},
		"1000 acknowledged rows deleted": {statements: remove(someAcknowledged), lost: someAcknowledged},
		"a loss behind a recovered write": {
			statements: remove([]uint64{hidden}) + insert(vanished), lost: []uint64{hidden}, recovered: 1,
		},
		"an indeterminate row deleted": {statements: remove([]uint64{1}), recovered: -1},
		"rows that were never sent": {
			statements: insert("0") + insert("20001") + insert("134217728") + insert("1099511627776") + insert("18446744073709551615"),
			unexpected: 5,
		},
		"a rejected row": {statements: insert("10"), unexpected: 1},
		"duplicates, without the unique index": {
			statements: "DROP INDEX write_id ON social.users;" + insert("3") + insert("4") + insert("4"), duplicates: 3,
		},
		"duplicates, with another index": {
			statements: "DROP INDEX write_id ON social.users; CREATE INDEX write_id ON social.users (write_id);" + insert("20000000") + insert("20000000"),
			unexpected: 1, duplicates: 1,
		},
		"duplicates that make up for losses": {
			statements: "DROP INDEX write_id ON social.users;" + remove(someAcknowledged[:2]) + insert("3") + insert("3"),
			lost:       someAcknowledged[:2], duplicates: 2,
		},
		"a row without a write id": {statements: insert("NULL"), seeds: 1},
		"a seeded row deleted":     {statements: "DELETE FROM social.users WHERE write_id IS NULL LIMIT 1;", seeds: -1},
		"an empty table": {
			statements: "TRUNCATE social.users;", lost: pick(writes, acknowledged), recovered: -count(func(id uint64) bool { return indeterminate(id) && inTable(id) }),
			seeds: -seeded,
		},
	}
}

func TestEveryMutationIsFoundAndNothingElse(t *testing.T) {
	primary := enginetest.Start(t, "primary")
	primary.Open()
	fill(t, primary, writes, seeded, inTable)
	primary.Exec("CREATE TABLE social.base LIKE social.users; INSERT INTO social.base SELECT * FROM social.users")
	url := serveFile(t, writeLedger(t, writes))
	for name, m := range mutations() {
		t.Run(name, func(t *testing.T) {
			primary.Exec("DROP TABLE social.users; CREATE TABLE social.users LIKE social.base; INSERT INTO social.users SELECT * FROM social.base;" + m.statements)
			result := audit(t, config(t, url, auditNode(primary, wire.RoleWriter)))
			if result.Failed != "" {
				t.Fatal(result.Failed)
			}
			want := expect(m)
			if (result.Writes.Why == "") != (m.seeds == 0) {
				t.Errorf("why: %q", result.Writes.Why)
			}
			result.Writes.Why = ""
			if diff := cmp.Diff(want, *result.Writes); diff != "" {
				t.Error(diff)
			}
			rows := want.Present + m.duplicates + seeded + m.seeds
			node := []wire.AuditedNode{{Name: "primary", Role: wire.RoleWriter, Rows: &rows}}
			if diff := cmp.Diff(node, result.Nodes); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// expect derives the figures from the fixture's rules, id by id.
func expect(m mutation) wire.WriteSets {
	there := func(id uint64) bool { return indeterminate(id) && inTable(id) }
	lost := int64(len(m.lost))
	w := wire.WriteSets{
		LedgerCounts: wire.LedgerCounts{
			Sent: writes, Acknowledged: count(acknowledged), Rejected: count(rejected), Indeterminate: count(indeterminate),
		},
		Present: count(inTable) - lost + m.recovered + m.unexpected, Lost: lost,
		Recovered: count(there) + m.recovered, Vanished: count(indeterminate) - count(there) - m.recovered,
		Unexpected: m.unexpected, Duplicates: m.duplicates, Balanced: m.seeds == 0,
	}
	if lost > 0 {
		ids := slices.Sorted(slices.Values(m.lost))
		var times lossTimes
		for _, id := range ids {
			times.add(ackTime(id))
		}
		spans, within := times.spans(wire.MaxLostSpans)
		w.LostSpans, w.LostSpanMicroseconds = spans, within.Microseconds()
		w.LostIDs = ids[:min(lost, wire.MaxLostIDs)]
	}
	return w
}

func count(is func(uint64) bool) (n int64) {
	for id := uint64(1); id <= writes; id++ {
		if is(id) {
			n++
		}
	}
	return n
}

// pick returns up to n of the ids for which is holds, in random order.
func pick(n int, is func(uint64) bool) []uint64 {
	var ids []uint64
	for id := uint64(1); id <= writes; id++ {
		if is(id) {
			ids = append(ids, id)
		}
	}
	rand.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	return ids[:min(n, len(ids))]
}

func remove(ids []uint64) string {
	list := strings.Trim(strings.ReplaceAll(fmt.Sprint(ids), " ", ","), "[]")
	return "DELETE FROM social.users WHERE write_id IN (" + list + ");"
}

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
	must(t, other.Process().Signal(syscall.SIGSTOP))
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
		"no witness": {"http://127.0.0.1:1/ledger", "connection refused", []wire.AuditNode{node}},
		"no primary": {serveFile(t, path), "no node is the primary", []wire.AuditNode{auditNode(primary, wire.RoleReader)}},
	} {
		wantFailed(t, name, audit(t, config(t, c.url, c.nodes...)), c.want)
	}

	lateWitness(t, path, node)

	cfg := config(t, serveFile(t, path), node)
	cfg.Engine = "Paradox"
	wantFailed(t, "an unknown engine", audit(t, cfg), `engine "Paradox"`)
	cfg.Engine, cfg.SecretDir = "MySQL", t.TempDir()
	wantFailed(t, "no password", audit(t, cfg), "replab_probe")

	primary.Exec("DROP TABLE social.users")
	wantFailed(t, "no table", audit(t, config(t, serveFile(t, path), node)), "node primary: read column write_id of table users")
}

// lateWitness answers the first request with an error, as while it starts.
func lateWitness(t *testing.T, path string, node wire.AuditNode) {
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
		t.Errorf("a witness that is late: failed %q, writes %+v", result.Failed, result.Writes)
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
