package family

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

// pollPause is the time between two looks for a row at a member of a group.
const pollPause = 500 * time.Microsecond

// NameWait is for how long a member is asked to wait for a name. It takes whole seconds; with less it gives up at once.
const NameWait = time.Second

// errGivenUp is how a member says that a name did not come in time.
const errGivenUp = 1205

// memberSession is set in a session on a member. A list of rows is cut without a word where it is longer, with MySQL's default after
// some 70 rows; no question for rows, which is longer than its answer, may be as long as this is.
const memberSession = "SET SESSION wsrep_sync_wait=0, SESSION group_concat_max_len=67108864"

// GroupLag is what a lag probe knows of its writes with a group. Its members name transactions as they come, so no write can be waited for
// by its name before it is acknowledged: the rows of the writes are looked for, by names only where these are learned.
type GroupLag struct {
	rows  engine.LagWrites[uint64]
	Names engine.LagWrites[string] // those that are known
}

// GroupSession is a session of the probe on a member.
type GroupSession struct {
	*LagSession
	Name  string // of the node
	probe *GroupLag
	// misnamed: the member had another transaction under a write's name, so names are no longer waited for.
	misnamed bool
}

// Join finds out whether a session's server is a member of a group, nil where it is not. It has the session's reads wait for nothing then:
// what is asked is what is visible, and lists of rows be whole. membership is a query of 1 for a member, and the node's name.
func (l *GroupLag) Join(s *LagSession, membership string) (*GroupSession, error) {
	row, err := s.Row(membership, 2)
	if err != nil || row[0] == nil || *row[0] != "1" {
		return nil, err
	}
	if row[1] == nil || *row[1] == "" {
		return nil, errors.New("the server is a member of a group and has no name")
	}
	return &GroupSession{LagSession: s, Name: *row[1], probe: l}, s.Exec(memberSession)
}

// Missing does as lag.Session says.
func (s *GroupSession) Missing(first, last uint64) (engine.Spans, error) {
	return s.probe.rows.Missing(first, last, func(row uint64) uint64 { return row }, func(ids []string) ([]string, error) {
		row, err := s.Row("SELECT GROUP_CONCAT(id) FROM (SELECT id FROM "+wire.ProbeTable+" WHERE id IN ("+strings.Join(ids, ",")+")) t", 1)
		if err != nil || row[0] == nil {
			return nil, err
		}
		return strings.Split(*row[0], ","), nil
	})
}

// LearnName learns by what name the members know the write that was acknowledged last.
func (s *GroupSession) LearnName(seq uint64) error {
	row, err := s.Row("SELECT WSREP_LAST_WRITTEN_GTID()", 1)
	if err != nil {
		return fmt.Errorf("ask for the name of the probe's write %d: %w", seq, err)
	}
	if row[0] != nil {
		s.probe.Names.Begin(seq, *row[0])
	}
	return nil
}

// Wait does as lag.Watcher says: it looks for the write's row. Once the write's name is known the member wakes it; until then, and where
// names have proved wrong, it looks again and again.
func (s *GroupSession) Wait(seq uint64, atMost time.Duration) (bool, error) {
	end := time.Now().Add(atMost)
	for woken := false; ; {
		row, begun := s.probe.rows.Await(seq, end)
		if !begun {
			return false, nil
		}
		found, err := s.Row("SELECT COUNT(*) FROM "+wire.ProbeTable+" WHERE id="+strconv.FormatUint(row, 10), 1)
		if err != nil {
			return false, fmt.Errorf("look for the probe's write %d: %w", seq, err)
		}
		if *found[0] == "1" {
			return true, nil
		}
		if woken { // for another transaction: this member's names are not the writer's
			s.misnamed = true
		}
		if !time.Now().Before(end) {
			return false, nil
		}
		name, known := s.probe.Names.Of(seq)
		if !known || s.misnamed {
			time.Sleep(pollPause)
			continue
		}
		if woken, err = s.awaitName(name); err != nil {
			return false, fmt.Errorf("wait for the probe's write %d: %w", seq, err)
		}
	}
}

// awaitName returns once the member has committed what it has under a name, and false when it has not in time. The name alone proves
// nothing: that the row is there must be seen.
func (s *GroupSession) awaitName(name string) (bool, error) {
	_, err := s.Row(fmt.Sprintf("SELECT WSREP_SYNC_WAIT_UPTO_GTID('%s', %d)", name, NameWait/time.Second), 1)
	var refused *driver.MySQLError
	if errors.As(err, &refused) && refused.Number == errGivenUp {
		return false, nil
	}
	return err == nil, err
}
