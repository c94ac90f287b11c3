package postgres

import (
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// dump is what pg_waldump writes, with users in file 1663/16389/16391 and probe_writes in 1663/16389/16400.
const dump = `first record is after 0/2000000, at 0/2000028, skipping over 40 bytes
rmgr: Heap        len (rec/tot):    143/   143, tx:        751, lsn: 0/02000028, prev 0/01FFFFC0, desc: INSERT off: 4, flags: 0x00, blkref #0: rel 1663/16389/16391 blk 0
rmgr: Btree       len (rec/tot):     64/    64, tx:        751, lsn: 0/020000B8, prev 0/02000028, desc: INSERT_LEAF off: 4, blkref #0: rel 1663/16389/16399 blk 1
rmgr: Heap        len (rec/tot):    143/   143, tx:        750, lsn: 0/020000F8, prev 0/020000B8, desc: INSERT off: 5, flags: 0x00, blkref #0: rel 1663/16389/16391 blk 0
rmgr: Transaction len (rec/tot):     34/    34, tx:        750, lsn: 0/02000188, prev 0/020000F8, desc: COMMIT 2026-11-22 12:32:41.709000 UTC
rmgr: Transaction len (rec/tot):     34/    34, tx:        751, lsn: 0/02000200, prev 0/02000188, desc: COMMIT 2026-11-22 12:32:41.709702 UTC
rmgr: Standby     len (rec/tot):     50/    50, tx:          0, lsn: 0/02000228, prev 0/02000200, desc: RUNNING_XACTS nextXid 752 latestCompletedXid 751 oldestRunningXid 752
rmgr: Heap        len (rec/tot):     54/   150, tx:        752, lsn: 0/02000260, prev 0/02000228, desc: INSERT+INIT off: 1, flags: 0x00, blkref #0: rel 1663/16389/16391 blk 0 FPW
rmgr: Heap2       len (rec/tot):     90/    90, tx:        755, lsn: 0/02000300, prev 0/02000260, desc: MULTI_INSERT ntuples: 2, flags: 0x02, offsets: [1, 2], blkref #0: rel 1663/16389/16391 blk 0
rmgr: Heap        len (rec/tot):     60/    60, tx:        752, lsn: 0/02000360, prev 0/02000300, desc: INSERT off: 2, flags: 0x00, blkref #0: rel 1663/16389/16400 blk 0
rmgr: Transaction len (rec/tot):     46/    46, tx:        752, lsn: 0/020003A0, prev 0/02000360, desc: COMMIT 2026-11-22 12:32:42.000000 UTC; subxacts: 755 756; sync
rmgr: Heap        len (rec/tot):     60/    60, tx:        757, lsn: 0/020003D0, prev 0/020003A0, desc: INSERT off: 3, flags: 0x00, blkref #0: rel 1663/16389/16400 blk 0
rmgr: Heap        len (rec/tot):     60/    60, tx:        758, lsn: 0/02000410, prev 0/020003D0, desc: INSERT off: 4, flags: 0x00, blkref #0: rel 1663/16389/16400 blk 0
rmgr: Transaction len (rec/tot):     34/    34, tx:        757, lsn: 0/02000450, prev 0/02000410, desc: ABORT 2026-11-22 12:32:42.000000 UTC
rmgr: Transaction len (rec/tot):     34/    34, tx:          0, lsn: 0/02000478, prev 0/02000450, desc: COMMIT_PREPARED 758: 2026-11-22 12:32:42.000000 UTC
rmgr: Heap        len (rec/tot):     60/    60, tx:        759, lsn: 0/020004A0, prev 0/02000478, desc: INSERT off: 5, flags: 0x00, blkref #0: rel 1663/16389/16391 blk 0
rmgr: Heap        len (rec/tot):     60/    60, tx:        760, lsn: 0/020004E0, prev 0/020004A0, desc: HOT_UPDATE old_xmax: 760, old_off: 1, new_off: 6, blkref #0: rel 1663/16389/16391 blk 0
rmgr: Transaction len (rec/tot):     34/    34, tx:        760, lsn: 0/02000540, prev 0/020004E0, desc: COMMIT 2026-11-22 12:32:43.000000 UTC
rmgr: Transaction len (rec/tot):     34/    34, tx:          0, lsn: 0/02000568, prev 0/02000540, desc: COMMIT 2026-11-22 12:32:43.000000 UTC; inval msgs: catcache 1
rmgr: XLOG        len (rec/tot):    114/   114, tx:          0, lsn: 0/02000590, prev 0/02000568, desc: CHECKPOINT_SHUTDOWN redo 0/2000590; tli 1; prev tli 1
`

const ended = "pg_waldump: error: error in WAL record at 0/2000590: invalid record length at 0/2000608: expected at least 24, got 0\n"

func TestCommitsOfALog(t *testing.T) {
	for from, want := range map[position]struct {
		all      int64
		inserted map[string]int64
	}{
		0x2000000: {5, map[string]int64{"1663/16389/16391": 3, "1663/16389/16400": 2}},
		// The first row of the second transaction was written before the fork, and is in no other server: nobody else has its end.
		0x2000200: {4, map[string]int64{"1663/16389/16391": 2, "1663/16389/16400": 2}},
		0x2000201: {3, map[string]int64{"1663/16389/16391": 1, "1663/16389/16400": 2}},
		0x2000590: {0, map[string]int64{}},
	} {
		count := newCommitCount(from)
		failed := count.read(strings.NewReader(dump))
		got, err := count.result(0x2000000, 0x2000590, failed, &exec.ExitError{}, ended)
		if err != nil || got.All != want.all || got.End != "0/2000608" {
			t.Errorf("from %s: %+v, %v, want %+v", from, got, err, want)
		}
		if d := cmp.Diff(want.inserted, got.Inserted); d != "" {
			t.Errorf("from %s:\n%s", from, d)
		}
	}
}

func TestTheEndOfALogIsToldFromDamage(t *testing.T) {
	const none = "pg_waldump: error: could not find a valid record after 0/2000590\n"
	exit := &exec.ExitError{}
	for _, c := range []struct {
		name              string
		text              string
		start, checkpoint position
		ended             error
		messages          string
		whole             bool
	}{
		{"the last checkpoint was read", dump, 0x2000000, 0x2000590, exit, ended, true},
		{"whatever is said behind it", dump, 0x2000000, 0x2000590, exit, "pg_waldump: error: could not find file \"x\"\n", true},
		{"and when all is well", dump, 0x2000000, 0x2000590, nil, "", true},
		{"the last checkpoint was not read", dump, 0x2000000, 0x2000591, exit, ended, false},
		{"there is nothing behind the fork", "", 0x2000590, 0x2000000, exit, none, true},
		{"there is nothing, and there should be", "", 0x2000590, 0x2000590, exit, none, false},
		{"the log is not there", "", 0x2000590, 0x2000000, exit, "pg_waldump: error: could not find any WAL file\n", false},
		{"the program could not be run", dump, 0x2000000, 0x2000590, errors.New("killed"), "", false},
		{"a record is not understood", "rmgr: Heap something else\n" + dump, 0x2000000, 0x2000590, exit, ended, false},
		{"an end of a transaction is not understood", strings.Replace(dump, "755 756", "755 x", 1), 0x2000000, 0x2000590, exit, ended, false},
		{"an insert names no file", strings.Replace(dump, "blkref #0: rel 1663/16389/16400", "", 1), 0x2000000, 0x2000590, exit, ended, false},
	} {
		count := newCommitCount(0x2000590)
		failed := count.read(strings.NewReader(c.text))
		if got, err := count.result(c.start, c.checkpoint, failed, c.ended, c.messages); (err == nil) != c.whole {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
	}
}
