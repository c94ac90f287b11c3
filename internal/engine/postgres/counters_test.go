package postgres

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestStandbysThatEachCommitWaitsFor(t *testing.T) {
	for names, want := range map[string][]string{
		``:                             nil,
		`*`:                            nil,
		`"a-db-1"`:                     {"a-db-1"},
		`a_db_1`:                       {"a_db_1"},
		`2 ("a-db-1","a-db-2")`:        {"a-db-1", "a-db-2"},
		`FIRST 1 ("a-db-2")`:           {"a-db-2"},
		`ANY 2 ("a-db-1", "a-db-2")`:   {"a-db-1", "a-db-2"},
		`ANY 1 ("a-db-1","a-db-2")`:    nil,
		`"a-db-1","a-db-2"`:            nil,
		`1 (*)`:                        nil,
		` first 2 ( "a-db-1" , b_c ) `: {"a-db-1", "b_c"},
	} {
		if diff := cmp.Diff(want, howCommitsWait(false, names, time.Time{}).Standbys); diff != "" {
			t.Errorf("%q (-want +got):\n%s", names, diff)
		}
		if w := howCommitsWait(true, names, time.Time{}); w.Standbys != nil || w.Degraded {
			t.Errorf("%q on a replica: %+v", names, w)
		}
	}
}
