package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/httpclient"
	"replab.dev/internal/ledger"
	"replab.dev/internal/wire"
)

// column is a column of ids.
type column struct{ table, name string }

var (
	writeIDs = column{table: wire.UsersTable, name: "write_id"}
	probeIDs = column{table: wire.ProbeTable, name: "id"}
)

// maxSetBytes bounds the memory of one set: 25 MiB are 200 million dense ids, or 150,000 that no ledger can have leased. It is
// looked at every lookRows rows.
const (
	maxSetBytes = 25 << 20
	lookRows    = 1 << 15
)

// ids are the values of one id column.
type ids struct {
	set        ledger.Bitmap
	rows       int64
	nulls      int64 // rows without an id
	duplicates int64 // rows beyond the first of their id
}

func (s *ids) add(id uint64, null bool) error {
	s.rows++
	switch {
	case null:
		s.nulls++
	case !s.set.Add(id):
		s.duplicates++
	}
	if s.rows%lookRows == 0 && s.set.Bytes() > maxSetBytes {
		return fmt.Errorf("%w: too many write ids that no ledger can contain, such as perhaps %d: another client may have written to the table", errFound, id)
	}
	return nil
}

// content is what the audit knows of one node's tables.
type content struct {
	users    ids
	probes   ids
	checksum string // of users, where it was asked for
	unsummed error  // why there is none
}

// read takes a node's content in one snapshot.
func read(ctx context.Context, s Reader) (*content, error) {
	if err := s.Begin(ctx); err != nil {
		return nil, fmt.Errorf("begin a snapshot: %w", err)
	}
	var c content
	if err := readIDs(ctx, s, writeIDs, &c.users); err != nil {
		return nil, err
	}
	if err := readIDs(ctx, s, probeIDs, &c.probes); err != nil {
		return nil, err
	}
	counted, err := s.Count(ctx, wire.UsersTable)
	if err != nil {
		return nil, fmt.Errorf("count the rows of table %s: %w", wire.UsersTable, err)
	}
	if counted != c.users.rows {
		return nil, fmt.Errorf("table %s has %d rows when counted and %d when scanned by index %s: %w for corruption",
			wire.UsersTable, counted, c.users.rows, writeIDs.name, errFound)
	}
	return &c, nil
}

func readIDs(ctx context.Context, s Reader, c column, into *ids) error {
	if err := s.IDs(ctx, c.table, c.name, into.add); err != nil {
		return fmt.Errorf("read column %s of table %s: %w", c.name, c.table, err)
	}
	return nil
}

// inspected compares what a node held each time that it was started again, and holds now, with the primary. Data that an
// inspection could not read, or that were wiped before it, may hold more ghosts, unless that was before there were any writes.
func (n *node) inspected(ctx context.Context, primary *node) *wire.InspectedNode {
	result := &wire.InspectedNode{}
	held, log, err := n.held(ctx, result)
	switch {
	case err != nil:
		result.Unknown, result.UnknownAt = err.Error(), nil
	case primary.err != nil:
		result.Unknown, result.UnknownAt = "the primary was not read: "+primary.err.Error(), nil
	default:
		n.ghosts = ledger.AndNot(ledger.Or(held, n.content.users.set), primary.content.users.set)
		result.Ghosts = size(n.ghosts)
		log.state(result, size(ledger.AndNot(held, primary.content.users.set)))
	}
	return result
}

// held is the union of what the inspections found, and what their logs tell of it. It counts those into result, and notes the last that is
// not known.
func (n *node) held(ctx context.Context, result *wire.InspectedNode) (held ledger.Bitmap, log logs, err error) {
	client := inspectionClient()
	defer client.CloseIdleConnections()
	text, err := get(ctx, client, n.Agent+wire.AgentPathInspections)
	if err != nil {
		return held, log, fmt.Errorf("ask the agent of node %s for its inspections: %w", n.Name, err)
	}
	var list wire.Inspections
	if err := json.Unmarshal(text, &list); err != nil {
		return held, log, fmt.Errorf("read the inspections of node %s: %w", n.Name, err)
	}
	if len(list.Inspections) == 0 {
		return held, log, fmt.Errorf("the agent of node %s has kept no inspection, not even of its first start", n.Name)
	}
	for i, found := range list.Inspections {
		switch {
		case found.Error != "":
			result.Unknown, result.UnknownAt = fmt.Sprintf("when it was started at %s it could not be read: %s", at(found), found.Error), &found.At
			log.add(found)
			continue
		case found.Fresh && i > 0:
			result.Unknown, result.UnknownAt = fmt.Sprintf("when it was started at %s its data were gone", at(found)), &found.At
			continue
		case found.Fresh: // the first start of all, of these data
			result.FreshAt = &found.At
			continue
		case found.Unfinished, found.Intact: // nothing of its own since the inspection before, or it still has it
			continue
		}
		log.add(found)
		result.Inspections++
	}
	if result.Inspections == 0 {
		return held, log, nil
	}
	if held, err = n.inspectedIDs(ctx, client, list.WriteIDs); err == nil && held.Bytes() > maxSetBytes {
		err = fmt.Errorf("node %s held too many write ids that no ledger can contain", n.Name)
	}
	return held, log, err
}

// inspectedIDs are the write ids that all inspections found, as many as the agent says.
func (n *node) inspectedIDs(ctx context.Context, client *http.Client, count *int64) (ledger.Bitmap, error) {
	fail := func(err error) (ledger.Bitmap, error) {
		return ledger.Bitmap{}, fmt.Errorf("read what node %s held: %w", n.Name, err)
	}
	text, err := get(ctx, client, n.Agent+wire.AgentPathInspected)
	if err != nil {
		return fail(err)
	}
	ids, err := ledger.ReadBitmap(bytes.NewReader(text))
	if err != nil {
		return fail(err)
	}
	if count == nil || *count != ids.Count() {
		return fail(fmt.Errorf("there are %d write ids, the agent says %s", ids.Count(), countOf(count)))
	}
	return ids, nil
}

func at(i wire.Inspection) string { return i.At.UTC().Format("15:04:05.000") }

func countOf(n *int64) string {
	if n == nil {
		return "nothing of them"
	}
	return fmt.Sprint(*n)
}

// get tries for as long as one attempt may take, since an agent answers at once or is not there.
func get(ctx context.Context, client *http.Client, url string) (body []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, inspectionTimeout)
	defer cancel()
	err = retry(ctx, func() error {
		attempt, stop := context.WithTimeout(ctx, attemptTimeout)
		defer stop()
		body, err = httpclient.Do(attempt, client, httpclient.Request{Method: http.MethodGet, URL: url})
		return err
	})
	return body, err
}

// inspectionTimeout is how long an agent may take to answer.
const inspectionTimeout = 2 * attemptTimeout

func inspectionClient() *http.Client {
	return httpclient.Client(&http.Transport{DialContext: (&net.Dialer{Timeout: attemptTimeout}).DialContext})
}

// logs are what a node's log had at its inspections that others did not have, all of them together.
type logs struct {
	behind       map[fork]commits
	read, unread bool // a log was; an inspection has none
	first        *metav1.MicroTime
	unknown      string
}

// fork is the point of a timeline behind which a node's log is its own. A node is on a timeline once, so that a log that is read again behind
// the same point, since the node was not rewound after all, has the same commits, and perhaps more.
type fork struct {
	timeline int64
	position string
}

type commits struct{ users, probes int64 }

// add takes an inspection at which the node had data. The rows of one that could not be read are not known, so its commits are nothing to
// hold them against.
func (l *logs) add(found wire.Inspection) {
	switch {
	case found.WAL == nil:
		l.unread = true
	case found.Error != "":
		l.read, l.unknown = true, fmt.Sprintf("when it was started at %s its rows could not be read", at(found))
	case found.WAL.Error != "":
		l.read, l.unknown = true, fmt.Sprintf("when it was started at %s its log could not be read: %s", at(found), found.WAL.Error)
	default:
		l.read = true
		if l.first == nil {
			l.first = &found.At
		}
		if l.behind == nil {
			l.behind = map[fork]commits{}
		}
		point := fork{found.WAL.Timeline, found.WAL.Fork}
		l.behind[point] = commits{max(l.behind[point].users, found.WAL.UserCommits), max(l.behind[point].probes, found.WAL.ProbeCommits)}
	}
}

// state writes the commits beside the rows that the inspections found, where both are of the same inspections.
func (l *logs) state(into *wire.InspectedNode, rows *int64) {
	switch {
	case !l.read: // logs are not read there
	case l.unknown != "":
		into.LogUnknown = l.unknown
	case l.unread:
		into.LogUnknown = "the log of one of its starts was not read"
	default:
		users, probes := l.sum()
		into.LoggedGhosts, into.GhostCommits, into.ProbeGhostCommits, into.LoggedAt = rows, &users, &probes, l.first
	}
}

func (l *logs) sum() (users, probes int64) {
	for _, c := range l.behind {
		users, probes = users+c.users, probes+c.probes
	}
	return users, probes
}
