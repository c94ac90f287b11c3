package postgres

import (
	"context"
	"os/exec"

	"replab.dev/internal/engine"
)

// Rejections are the errors that are told apart by their number alone.
var Rejections = rejections

// Search is the statement of a search.
var Search = search

// Quiet is how a store looks at an idle connection.
var Quiet = quiet

// Show is a setting of a reader's session.
func (r *Reader) Show(ctx context.Context, setting string) (value string, err error) {
	err = scan(ctx, r.conn, "SHOW "+setting, &value)
	return value, err
}

// Fork and Commits are those of engine.Log with the programs of a test's image.
func (t tools) Fork(ctx context.Context, dataDir, source string) (engine.Fork, error) {
	return t.fork(ctx, dataDir, source)
}

func (t tools) Commits(ctx context.Context, dataDir string, f engine.Fork) (engine.LogCommits, error) {
	return t.commits(ctx, dataDir, f)
}

// Tools are those that are run so.
func Tools(command func(ctx context.Context, program string, arguments ...string) *exec.Cmd) Log {
	return tools{command}
}

// Log is the part of engine.Log that runs programs.
type Log interface {
	Fork(ctx context.Context, dataDir, source string) (engine.Fork, error)
	Commits(ctx context.Context, dataDir string, f engine.Fork) (engine.LogCommits, error)
}
