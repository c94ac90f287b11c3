package audit

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
		for _, id := range ids[:min(lost, wire.MaxLostWrites)] {
			w.LostWrites = append(w.LostWrites, wire.LostWrite{ID: id, AcknowledgedAt: ptr.To(metav1.NewMicroTime(ackTime(id)))})
		}
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
