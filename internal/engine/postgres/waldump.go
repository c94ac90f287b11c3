package postgres

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"strconv"
	"strings"

	"replab.dev/internal/engine"
)

// commitCount counts the commits that a log has at a position or behind it.
type commitCount struct {
	from   position
	last   position                       // of the last record
	wrote  map[uint64]map[string]struct{} // files into which a transaction that has not ended yet has inserted
	counts engine.LogCommits
}

func newCommitCount(from position) *commitCount {
	return &commitCount{from: from, wrote: map[uint64]map[string]struct{}{}, counts: engine.LogCommits{Inserted: map[string]int64{}}}
}

const recordMost = 16 << 20

func (c *commitCount) read(out io.Reader) error {
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, recordMost)
	for lines.Scan() {
		if err := c.record(lines.Text()); err != nil {
			return err
		}
	}
	return lines.Err()
}

// record takes a line of pg_waldump. Those that are no records are passed over.
func (c *commitCount) record(line string) error {
	rest, ok := strings.CutPrefix(line, "rmgr: ")
	if !ok {
		return nil
	}
	head, description, described := strings.Cut(rest, ", desc: ")
	manager, head, _ := strings.Cut(head, " ")
	transaction, err := strconv.ParseUint(strings.TrimSpace(between(head, "tx:", ",")), 10, 32)
	at, failed := parsePosition(between(head, "lsn: ", ","))
	if err != nil || failed != nil || !described {
		return fmt.Errorf("pg_waldump wrote a record that is not understood: %q", line)
	}
	c.last = at
	switch {
	case manager == "Transaction":
		return c.transaction(transaction, at, description)
	case manager == "Heap" && strings.HasPrefix(description, "INSERT"), manager == "Heap2" && strings.HasPrefix(description, "MULTI_INSERT"):
		file := between(description, "blkref #0: rel ", " ")
		if file == "" {
			return fmt.Errorf("pg_waldump wrote an insert that names no file: %q", line)
		}
		if c.wrote[transaction] == nil {
			c.wrote[transaction] = map[string]struct{}{}
		}
		c.wrote[transaction][file] = struct{}{}
	}
	return nil
}

// between is what stands behind a word and before another one; "" without the first.
func between(text, before, behind string) string {
	_, text, _ = strings.Cut(text, before)
	text, _, _ = strings.Cut(text, behind)
	return text
}

// transaction takes the end of one. What it did behind savepoints bears other numbers, which its end tells.
func (c *commitCount) transaction(number uint64, at position, description string) error {
	what, rest, _ := strings.Cut(description, " ")
	switch what {
	case "COMMIT", "ABORT":
	case "COMMIT_PREPARED", "ABORT_PREPARED":
		prepared, _, _ := strings.Cut(rest, ":")
		var err error
		if number, err = strconv.ParseUint(prepared, 10, 32); err != nil {
			return fmt.Errorf("pg_waldump wrote an end of a transaction that is not understood: %q", description)
		}
	default:
		return nil
	}
	files := map[string]struct{}{}
	numbers := append([]string{strconv.FormatUint(number, 10)}, strings.Fields(between(rest, "subxacts: ", ";"))...)
	for _, text := range numbers {
		n, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			return fmt.Errorf("pg_waldump wrote an end of a transaction that is not understood: %q", description)
		}
		for file := range c.wrote[n] {
			files[file] = struct{}{}
		}
		delete(c.wrote, n)
	}
	if number == 0 || at < c.from || strings.HasPrefix(what, "ABORT") { // 0 has written nothing
		return nil
	}
	c.counts.All++
	for file := range files {
		c.counts.Inserted[file]++
	}
	return nil
}

// recordEnd is in the message with which the program ends at the end of a log.
var recordEnd = regexp.MustCompile(`invalid record length at ([0-9A-F]+/[0-9A-F]+)`)

// nothingMore is another one, where there is no record at all.
const nothingMore = "could not find a valid record after"

// result is what was counted, if all of the log was read. The program ends with an error wherever a log ends, since what comes then looks like
// a broken record: the log counts as whole if the server's last checkpoint was read.
func (c *commitCount) result(start, checkpoint position, failed, ended error, messages string) (engine.LogCommits, error) {
	if failed != nil {
		return engine.LogCommits{}, failed
	}
	var exit *exec.ExitError
	if ended != nil && !errors.As(ended, &exit) {
		return engine.LogCommits{}, fmt.Errorf("pg_waldump: %w", ended)
	}
	none := c.last == 0 && checkpoint < start && strings.Contains(messages, nothingMore)
	if !none && (c.last == 0 || c.last < checkpoint) {
		return engine.LogCommits{}, fmt.Errorf("the log could be read from %s to %s alone, and the server's last checkpoint is at %s: pg_waldump's last words are %q",
			start, c.last, checkpoint, lastLine(messages))
	}
	c.counts.End = max(c.last, c.from).String()
	if found := recordEnd.FindStringSubmatch(messages); found != nil {
		c.counts.End = found[1]
	}
	return c.counts, nil
}
