package mariadb_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/family/familytest"
	"replab.dev/internal/engine/mariadb"
	"replab.dev/internal/wire"
)

// fates are rows by what their writers were told, and the errors that there were.
type fates struct {
	mu                           sync.Mutex
	next                         int64
	acknowledged, rejected, open []int64
	errors                       map[string]int
}

func (f *fates) row() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next++
	return f.next
}

func (f *fates) add(row int64, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var r *engine.Rejection
	judged := mariadb.Refusals.Rejection(err, nil)
	switch {
	case err == nil:
		f.acknowledged = append(f.acknowledged, row)
		return
	case errors.As(judged, &r):
		f.rejected = append(f.rejected, row)
	default:
		f.open = append(f.open, row)
	}
	what := "connection"
	var refused *driver.MySQLError
	if errors.As(err, &refused) {
		what = fmt.Sprint(refused.Number)
	}
	f.errors[what]++
}

// await waits for what the writers have been told.
func (f *fates) await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) { // between two looks
		f.mu.Lock()
		done := holds()
		f.mu.Unlock()
		if done {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

// cutOff has a member lose the others under writes: whatever its clients are told, what was acknowledged is there in the end, and what was
// rejected is not.
func cutOff(t *testing.T, members []*familytest.Member) {
	f := &fates{next: 1 << 43, errors: map[string]int{}}
	db := members[0].DB(wire.AccountApp, wire.Database)
	var enough atomic.Bool
	var writing sync.WaitGroup
	for range 8 {
		writing.Go(func() {
			for !enough.Load() {
				row := f.row()
				_, err := db.Exec("INSERT INTO probe_writes (id, payload) VALUES (?, 'x')", row)
				if f.add(row, err); err != nil {
					time.Sleep(20 * time.Millisecond) // a member that is alone refuses at once
				}
			}
		})
	}
	f.await(t, "writes are acknowledged", func() bool { return len(f.acknowledged) > 100 })
	for _, m := range members[1:] {
		if err := m.Process().Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
	}
	f.await(t, "a member that is alone refuses writes", func() bool { return len(f.open) > 100 })
	enough.Store(true)
	writing.Wait()
	for _, m := range members[1:] {
		if err := m.Process().Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
	}
	for _, m := range members {
		m.AwaitSynced(len(members))
	}
	t.Logf("%d acknowledged, %d rejected, %d open; errors %v", len(f.acknowledged), len(f.rejected), len(f.open), f.errors)
	if len(f.acknowledged) == 0 || len(f.open) == 0 {
		t.Error("nothing was acknowledged before, or nothing was open: the test tests nothing")
	}
	for _, m := range members {
		there := f.there(t, m)
		done := slices.DeleteFunc(slices.Clone(f.open), func(row int64) bool { _, found := slices.BinarySearch(there, row); return !found })
		t.Logf("%s has %d of those that were open", m.Name, len(done))
		for _, row := range f.acknowledged {
			if _, found := slices.BinarySearch(there, row); !found {
				t.Errorf("%s lacks row %d, which was acknowledged", m.Name, row)
			}
		}
		for _, row := range f.rejected {
			if _, found := slices.BinarySearch(there, row); found {
				t.Errorf("%s has row %d, which was rejected", m.Name, row)
			}
		}
	}
}

// there are the rows that a member has, in their order.
func (f *fates) there(t *testing.T, m *familytest.Member) (all []int64) {
	t.Helper()
	rows, err := synced(t, m).QueryContext(t.Context(), "SELECT id FROM social.probe_writes WHERE id > ? ORDER BY id", int64(1)<<43)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			t.Fatal(err)
		}
		all = append(all, id)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}
