package audit

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"replab.dev/internal/engine/enginetest"
	"replab.dev/internal/ledger"
	"replab.dev/internal/wire"
)

// replicas are two servers that replicate from each other, with the fixture's rows.
func replicas(t *testing.T, f enginetest.Flavor) [2]*enginetest.Server {
	t.Helper()
	s := f.StartPair(t, "node", true)
	for i := range s {
		s[i].Replicate(s[1-i])
		s[i].Open()
	}
	fill(t, s[0], writes, seeded, inTable)
	exchange(t, s)
	return s
}

// apart has neither server receive what the other one commits from now on.
func apart(s [2]*enginetest.Server) {
	for _, x := range s {
		x.Exec("STOP REPLICA IO_THREAD")
	}
}

// exchange has each server apply what the other one has.
func exchange(t *testing.T, s [2]*enginetest.Server) {
	t.Helper()
	for i := range s {
		s[i].Exec("START REPLICA IO_THREAD")
	}
	for deadline := time.Now().Add(time.Minute); !agree(t, s); time.Sleep(20 * time.Millisecond) { // between two looks
		if time.Now().After(deadline) {
			t.Fatal("the servers did not exchange all within a minute")
		}
	}
}

// agree tells whether both have executed the same.
func agree(t *testing.T, s [2]*enginetest.Server) bool {
	t.Helper()
	var executed [2][]string
	for i := range s {
		var text string
		db := s[i].DB(wire.AccountAdmin, "")
		must(t, db.QueryRow(s[i].Flavor.ExecutedSQL).Scan(&text))
		must(t, db.Close())
		executed[i] = slices.Sorted(strings.SplitSeq(text, ","))
	}
	return slices.Equal(executed[0], executed[1])
}

func independent(t *testing.T, f enginetest.Flavor, ledgerURL string, s [2]*enginetest.Server) wire.AuditConfig {
	t.Helper()
	cfg := config(t, ledgerURL, auditNode(s[0], wire.RoleWriter), auditNode(s[1], wire.RoleWriter))
	cfg.Engine, cfg.Independent = f.Engine, true
	for i := range cfg.Nodes {
		cfg.Nodes[i].Checksum = true
	}
	return cfg
}

// TestRowsChangedOnBothSidesAreFound: exactly these, however many, in one chunk or in many.
func TestRowsChangedOnBothSidesAreFound(t *testing.T) { enginetest.Each(t, rowsChangedOnBothSides) }

func rowsChangedOnBothSides(t *testing.T, f enginetest.Flavor) {
	s := replicas(t, f)
	cfg := independent(t, f, serveFile(t, writeLedger(t, writes)), s)
	if r := audit(t, cfg); r.Divergence == nil || r.Divergence.Rows != 0 || len(r.Divergence.Samples) > 0 || r.Divergence.Failed != "" {
		t.Fatalf("before any conflict: %+v", r.Divergence)
	}
	ids := idsOf(t, s[0], "SELECT id FROM social.users ORDER BY id")
	next := 0
	var expected []uint64
	for _, conflicts := range []int{1, 10, 1000} {
		apart(s)
		for some := range slices.Chunk(ids[next:next+5*conflicts], 5) {
			expected = append(expected, some[0])
		}
		for i := range s {
			db := s[i].DB(wire.AccountApp, wire.Database)
			tx, err := db.Begin()
			must(t, err)
			for some := range slices.Chunk(ids[next:next+5*conflicts], 5) {
				change(t, tx, some[0], fmt.Sprintf("changed on %d", i))
				change(t, tx, some[1], "changed alike")
				change(t, tx, some[2+i], "changed on one side")
			}
			must(t, tx.Commit())
			must(t, db.Close())
		}
		next += 5 * conflicts
		exchange(t, s)
		r := audit(t, cfg)
		if r.Failed != "" || r.Divergence == nil || r.Divergence.Rows != int64(len(expected)) {
			t.Fatalf("%d rows were changed on both sides, and found are %+v; %s", len(expected), r.Divergence, r.Failed)
		}
		var sampled []uint64
		for _, sample := range r.Divergence.Samples {
			sampled = append(sampled, sample.ID)
			if len(sample.Columns) != 1 || sample.Columns[0].Name != "biography" || sample.Columns[0].Values["node-0"] != "changed on 1" || sample.Columns[0].Values["node-1"] != "changed on 0" {
				t.Errorf("row %d differs in %+v", sample.ID, sample.Columns)
			}
		}
		slices.Sort(expected)
		if want := expected[:min(len(expected), wire.MaxDivergentSamples)]; !slices.Equal(sampled, want) {
			t.Errorf("samples are of rows %v, want %v", sampled, want)
		}
		for _, n := range r.Nodes {
			if *n.Missing != 0 || *n.Extra != 0 || n.Checksum == "" {
				t.Errorf("%+v: both have all writes", n)
			}
		}
		if !r.Writes.Balanced || r.Writes.Lost != 0 || r.Nodes[0].Checksum == r.Nodes[1].Checksum {
			t.Errorf("%+v, checksums %s and %s", r.Writes, r.Nodes[0].Checksum, r.Nodes[1].Checksum)
		}
	}
}

// TestWritesOfEitherSideArePresent: while the two are apart each side's own are counted, and none of them is lost.
func TestWritesOfEitherSideArePresent(t *testing.T) {
	const onFirst, onSecond, gone = 30, 7, 2
	f := enginetest.Default
	s := replicas(t, f)
	apart(s)
	path := writeLedger(t, writes)
	var more []uint64
	w, err := ledger.Open(path, began)
	must(t, err)
	for range onFirst + onSecond + gone {
		id, err := w.Next()
		must(t, err)
		must(t, w.Record(id, ledger.Acknowledged, ackTime(id)))
		more = append(more, id)
	}
	must(t, w.Close())
	for i, id := range more[gone:] {
		on := s[0]
		if i >= onFirst {
			on = s[1]
		}
		on.Exec(insert(fmt.Sprint(id)))
	}
	cfg := independent(t, f, serveFile(t, path), s)
	r := audit(t, cfg)
	if r.Failed != "" || r.Writes.Lost != gone || !slices.Equal(r.Writes.LostIDs, more[:gone]) || !r.Writes.Balanced || *r.GhostWrites != onFirst+onSecond || r.Divergence.Rows != 0 {
		t.Errorf("%+v, %s: lost are the writes that are on neither side", r.Writes, r.Failed)
	}
	for i, want := range []struct{ missing, extra int64 }{{onSecond, onFirst}, {onFirst, onSecond}} {
		if n := r.Nodes[i]; *n.Missing != want.missing || *n.Extra != want.extra || *n.Lost != want.missing+gone {
			t.Errorf("node %d lacks %d, has %d of its own and lost %d; want %+v", i, *n.Missing, *n.Extra, *n.Lost, want)
		}
	}
	exchange(t, s)
	if r = audit(t, cfg); r.Writes.Lost != gone || *r.GhostWrites != 0 || *r.Nodes[0].Lost != gone || *r.Nodes[1].Lost != gone {
		t.Errorf("once both have all: %+v, %+v", r.Writes, r.Nodes)
	}

	apart(s)
	s[1].Kill()
	r = audit(t, cfg)
	if r.Failed != "" || r.Writes.Lost != gone || r.Nodes[1].Failed == "" || r.Nodes[0].Missing != nil || r.Divergence != nil || r.GhostWrites != nil {
		t.Errorf("of one node that is left: %+v, %+v", r, r.Writes)
	}
}

func idsOf(t *testing.T, s *enginetest.Server, query string) (ids []uint64) {
	t.Helper()
	rows, err := s.DB(wire.AccountAdmin, "").Query(query)
	must(t, err)
	defer rows.Close()
	for rows.Next() {
		var id uint64
		must(t, rows.Scan(&id))
		ids = append(ids, id)
	}
	must(t, rows.Err())
	return ids
}

func change(t *testing.T, tx *sql.Tx, id uint64, biography string) {
	t.Helper()
	_, err := tx.Exec("UPDATE users SET biography = ? WHERE id = ?", biography, id)
	must(t, err)
}
