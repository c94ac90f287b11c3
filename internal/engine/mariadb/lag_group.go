package mariadb

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

// pollPause is the time between two looks for a row at a member of a group.
const pollPause = 500 * time.Microsecond

// lagRows are the rows of the probe's writes, by which it looks for them at members of a group. Those name transactions as they come, so that
// none can be waited for by its name before it is there.
type lagRows struct {
	mu   sync.Mutex
	rows map[uint64]uint64 // by write
	news chan struct{}     // closed when a write begins, and replaced
}

func (l *lagRows) begin(write, row uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rows == nil {
		l.rows = map[uint64]uint64{}
	}
	l.rows[write] = row
	if l.news != nil {
		close(l.news)
		l.news = nil
	}
}

// row of a write; until it has begun, a channel that tells of the next one that does.
func (l *lagRows) row(write uint64) (uint64, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if row, ok := l.rows[write]; ok {
		return row, nil
	}
	if l.news == nil {
		l.news = make(chan struct{})
	}
	return 0, l.news
}

// joinGroup finds out whether the session's server is a member of a group, and has its reads wait for nothing then: what is asked is what
// is visible.
func (r *lagReader) joinGroup() (string, error) {
	row, err := r.Row("SELECT @@GLOBAL.wsrep_on, @@GLOBAL.wsrep_node_name", 2)
	if err != nil || row[0] == nil || *row[0] != "1" {
		return "", err
	}
	if row[1] == nil || *row[1] == "" {
		return "", errors.New("the server is a member of a group and has no name")
	}
	r.member = true
	return *row[1], r.Exec("SET SESSION wsrep_sync_wait=0")
}

// missingRows are the writes whose rows a member does not show.
func (r lagReader) missingRows(first, last uint64) (engine.Spans, error) {
	var ids []string
	writes := map[string]uint64{}
	for seq := first; seq <= last; seq++ {
		if row, waits := r.probe.byRow.row(seq); waits == nil {
			id := strconv.FormatUint(row, 10)
			ids, writes[id] = append(ids, id), seq
		}
	}
	shown := map[uint64]bool{}
	if len(ids) > 0 {
		row, err := r.Row("SELECT GROUP_CONCAT(id) FROM (SELECT id FROM "+wire.ProbeTable+" WHERE id IN ("+strings.Join(ids, ",")+")) t", 1)
		if err != nil {
			return nil, fmt.Errorf("ask which of the probe's writes are missing: %w", err)
		}
		if row[0] != nil {
			for _, id := range strings.Split(*row[0], ",") {
				shown[writes[id]] = true
			}
		}
	}
	return gaps(first, last, func(seq uint64) bool { return shown[seq] }), nil
}

// awaitRow looks for a write's row again and again.
func (r lagReader) awaitRow(seq uint64, atMost time.Duration) (bool, error) {
	end := time.Now().Add(atMost)
	for {
		row, begins := r.probe.byRow.row(seq)
		if begins != nil {
			timer := time.NewTimer(time.Until(end))
			select {
			case <-begins:
				timer.Stop()
				continue
			case <-timer.C:
				return false, nil
			}
		}
		found, err := r.Row("SELECT COUNT(*) FROM "+wire.ProbeTable+" WHERE id="+strconv.FormatUint(row, 10), 1)
		if err != nil {
			return false, fmt.Errorf("look for the probe's write %d: %w", seq, err)
		}
		if *found[0] == "1" {
			return true, nil
		}
		if !time.Now().Before(end) {
			return false, nil
		}
		time.Sleep(pollPause)
	}
}

// gaps are the numbers that has does not know.
func gaps(first, last uint64, has func(uint64) bool) engine.Spans {
	var out engine.Spans
	for n := first; n <= last; n++ {
		if has(n) {
			continue
		}
		if i := len(out) - 1; i >= 0 && out[i].Last == n-1 {
			out[i].Last = n
		} else {
			out = append(out, engine.Span{First: n, Last: n})
		}
	}
	return out
}
