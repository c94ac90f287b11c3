package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
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
