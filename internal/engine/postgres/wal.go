package postgres

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"replab.dev/internal/engine"
)

var _ engine.Log = Server{}

// Fork implements engine.Log.
func (Server) Fork(ctx context.Context, dataDir, source string) (engine.Fork, error) {
	return ownTools.fork(ctx, dataDir, source)
}

// Commits implements engine.Log.
func (Server) Commits(ctx context.Context, dataDir string, f engine.Fork) (engine.LogCommits, error) {
	return ownTools.commits(ctx, dataDir, f)
}

// tools run the server's programs.
type tools struct {
	command func(ctx context.Context, program string, arguments ...string) *exec.Cmd
}

var ownTools = tools{func(ctx context.Context, program string, arguments ...string) *exec.Cmd {
	argv := inPath(append([]string{program}, arguments...))
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), "LC_ALL=C") // its messages are looked at for words
	return cmd
}}

// output is what a program has written.
func (t tools) output(ctx context.Context, program string, arguments ...string) (string, error) {
	cmd := t.command(ctx, program, arguments...)
	var failure bytes.Buffer
	cmd.Stderr = &failure
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", program, err, lastLine(failure.String()))
	}
	return string(out), nil
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

// sourceHistory asks a server that takes writes for its timeline, in the first line, and its history.
const sourceHistory = `SELECT t || E'\n' || coalesce(pg_read_file('pg_wal/' || lpad(upper(to_hex(t)), 8, '0') || '.history', 0, 1048576, true), '')
FROM (SELECT ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int AS t) now`

func (t tools) fork(ctx context.Context, dataDir, source string) (engine.Fork, error) {
	c, err := t.control(ctx, dataDir)
	if err != nil {
		return engine.Fork{}, err
	}
	text, err := os.ReadFile(filepath.Join(dataDir, "pg_wal", fmt.Sprintf("%08X.history", c.timeline)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return engine.Fork{}, fmt.Errorf("read the node's own history: %w", err)
	}
	ours, err := history(string(text), c.timeline)
	if err != nil {
		return engine.Fork{}, err
	}
	told, err := t.output(ctx, "psql", "-X", "-A", "-t", "-q", "-w", "-d", source, "-c", sourceHistory)
	if err != nil {
		return engine.Fork{}, fmt.Errorf("ask the other server for its history: %w", err)
	}
	first, rest, _ := strings.Cut(told, "\n")
	timeline, err := strconv.ParseInt(first, 10, 64)
	if err != nil {
		return engine.Fork{}, fmt.Errorf("the other server says that it is on timeline %q", first)
	}
	theirs, err := history(rest, timeline)
	if err != nil {
		return engine.Fork{}, err
	}
	at, err := fork(ours, theirs)
	return engine.Fork{Timeline: c.timeline, NewTimeline: timeline, Position: at.String()}, err
}

func (t tools) control(ctx context.Context, dataDir string) (control, error) {
	text, err := t.output(ctx, "pg_controldata", "-D", dataDir)
	if err != nil {
		return control{}, err
	}
	return parseControl(text)
}

// commits reads the log from some way before the fork: rows that were inserted there may have been committed behind it.
func (t tools) commits(ctx context.Context, dataDir string, f engine.Fork) (engine.LogCommits, error) {
	from, err := parsePosition(f.Position)
	if err != nil {
		return engine.LogCommits{}, err
	}
	c, err := t.control(ctx, dataDir)
	if err != nil {
		return engine.LogCommits{}, err
	}
	log := filepath.Join(dataDir, "pg_wal")
	segment := c.segment(from)
	if segment > 1 {
		if _, err := os.Stat(filepath.Join(log, c.segmentFile(segment-1))); err == nil {
			segment--
		}
	}
	start := position(segment * c.segmentSize)
	cmd := t.command(ctx, "pg_waldump", "-p", log, "-t", strconv.FormatInt(c.timeline, 10), "-s", start.String())
	var failure bytes.Buffer
	cmd.Stderr = &failure
	out, err := cmd.StdoutPipe()
	if err != nil {
		return engine.LogCommits{}, err
	}
	if err := cmd.Start(); err != nil {
		return engine.LogCommits{}, fmt.Errorf("pg_waldump: %w", err)
	}
	count := newCommitCount(from)
	failed := count.read(out)
	_, _ = io.Copy(io.Discard, out) // what is left of it, so that the program can end
	return count.result(start, c.checkpoint, failed, cmd.Wait(), failure.String())
}

// position in a log: bytes since it began.
type position uint64

// endless is the end of the timeline that a server is on.
const endless = position(math.MaxUint64)

func (p position) String() string {
	return fmt.Sprintf("%X/%X", uint64(p)>>32, uint64(p)&math.MaxUint32)
}

// parsePosition reads one as the server's programs write them.
func parsePosition(text string) (position, error) {
	high, low, found := strings.Cut(text, "/")
	h, err := strconv.ParseUint(high, 16, 32)
	l, failed := strconv.ParseUint(low, 16, 32)
	if !found || err != nil || failed != nil {
		return 0, fmt.Errorf("%q is no position in a log", text)
	}
	return position(h<<32 | l), nil
}

// branch is a timeline of a server's history, and where the history left it.
type branch struct {
	timeline int64
	end      position
}

// history is what a server on a timeline came over. text is the timeline's file; the first timeline has no file.
func history(text string, timeline int64) ([]branch, error) {
	var branches []branch
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		if len(fields) < 2 {
			return nil, fmt.Errorf("the history of timeline %d has a line %q", timeline, line)
		}
		n, err := strconv.ParseInt(fields[0], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("the history of timeline %d has a line %q", timeline, line)
		}
		end, err := parsePosition(fields[1])
		if err != nil {
			return nil, fmt.Errorf("the history of timeline %d: %w", timeline, err)
		}
		branches = append(branches, branch{n, end})
	}
	if len(branches) == 0 && timeline != 1 {
		return nil, fmt.Errorf("timeline %d has no history", timeline)
	}
	return append(branches, branch{timeline, endless}), nil
}

// fork is where two histories part: on the last timeline that both came over from the same point, where the first of them left it.
func fork(ours, theirs []branch) (position, error) {
	common := -1
	for i := range min(len(ours), len(theirs)) {
		if ours[i].timeline != theirs[i].timeline || i > 0 && ours[i-1].end != theirs[i-1].end {
			break
		}
		common = i
	}
	if common < 0 {
		return 0, errors.New("the two servers have no timeline in common")
	}
	at := min(ours[common].end, theirs[common].end)
	if at == endless {
		return 0, fmt.Errorf("both servers are on timeline %d: neither went its own way", ours[common].timeline)
	}
	return at, nil
}

// control is what a server that is down says of its data.
type control struct {
	timeline    int64
	checkpoint  position // the last; the server's last record but for what came after a crash
	segmentSize uint64   // bytes in a file of the log
}

// parseControl reads what pg_controldata writes. A standby's last checkpoint may be of a timeline that it has left since.
func parseControl(text string) (control, error) {
	values := map[string]string{}
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		if name, value, found := strings.Cut(lines.Text(), ":"); found {
			values[name] = strings.TrimSpace(value)
		}
	}
	fail := func(name string) (control, error) {
		return control{}, fmt.Errorf("pg_controldata says %q of %q", values[name], name)
	}
	const checkpoint, size = "Latest checkpoint location", "Bytes per WAL segment"
	var c control
	for _, name := range []string{"Latest checkpoint's TimeLineID", "Min recovery ending loc's timeline"} {
		timeline, err := strconv.ParseInt(values[name], 10, 64)
		if err != nil {
			return fail(name)
		}
		c.timeline = max(c.timeline, timeline)
	}
	var err error
	if c.checkpoint, err = parsePosition(values[checkpoint]); err != nil {
		return fail(checkpoint)
	}
	if c.segmentSize, err = strconv.ParseUint(values[size], 10, 64); err != nil || c.segmentSize == 0 {
		return fail(size)
	}
	return c, nil
}

// segment is the number of the log's file that holds a position.
func (c control) segment(p position) uint64 { return uint64(p) / c.segmentSize }

// segmentFile is the name of that file on the timeline.
func (c control) segmentFile(segment uint64) string {
	each := (uint64(1) << 32) / c.segmentSize
	return fmt.Sprintf("%08X%08X%08X", c.timeline, segment/each, segment%each)
}
