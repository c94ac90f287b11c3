package rewind

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/agent/inspect"
	"replab.dev/internal/engine"
	"replab.dev/internal/process"
	"replab.dev/internal/wire"
)

// logMost is how long it may take to ask the other server, and to read the log.
const logMost = 30 * time.Second

// reader has the agent read the node's data.
type reader interface {
	Read(ctx context.Context, params engine.StartParams, r *inspect.Request, beside func(ctx context.Context, socket string)) error
}

// inspection is of what the node holds that is about to be taken back.
type inspection struct {
	cfg    wire.ServerConfig
	log    engine.Log
	reader reader
	mark   mark
}

// inspect stops nothing: what cannot be found out is noted as unknown.
func (i inspection) inspect(ctx context.Context, began time.Time, source string) {
	volume := filepath.Dir(i.cfg.DataDir)
	earlier, err := inspect.Unkept(volume, i.cfg.HoldDir)
	if err != nil {
		slog.Warn("earlier inspections of the node could not be read", "error", err)
	}
	r := inspect.Request{Earlier: earlier, Inspection: wire.Inspection{ID: strconv.FormatInt(began.UnixMicro(), 10), At: metav1.NewMicroTime(began)}}
	if i.mark.stands() {
		r.Unfinished = true
	} else {
		i.read(ctx, source, &r)
	}
	if ctx.Err() != nil { // nothing is taken back
		r.Intact, r.WAL, r.Error = true, nil, ""
	}
	r.Milliseconds = time.Since(began).Milliseconds()
	r.Final = true
	if err := inspect.NoteStarts(volume, append(earlier, r.Inspection)); err != nil {
		slog.Warn("the inspection could not be written", "error", err)
	}
	if err := inspect.Ask(i.cfg.RunDir, r); err != nil {
		slog.Warn("the inspection could not be handed to the agent", "error", err)
	}
}

// read reads the log first: a server that runs alone writes to it.
func (i inspection) read(ctx context.Context, source string, r *inspect.Request) {
	found, commits, err := i.readLog(ctx, source)
	named := false
	failed := i.reader.Read(ctx, engine.StartParams{}, r, func(ctx context.Context, socket string) {
		if err == nil {
			err = i.nameTables(ctx, socket, commits, &found)
			named = err == nil
		}
	})
	if failed != nil {
		slog.Warn("the node's rows could not be read: the rewind goes on all the same", "error", failed)
		r.Error = failed.Error()
	}
	if err == nil && !named {
		err = cmp.Or(failed, errors.New("the server that was started alone ended before it could be asked for its tables' files"))
	}
	if err != nil {
		slog.Warn("the node's WAL could not be read before the rewind", "error", err)
		found.Error = err.Error()
	}
	r.WAL = &found // not before: the agent keeps what it is asked with
}

// readLog counts the commits that the other server has not.
func (i inspection) readLog(ctx context.Context, source string) (wire.WALInspection, engine.LogCommits, error) {
	ctx, cancel := context.WithTimeout(ctx, logMost)
	defer cancel()
	fork, err := i.log.Fork(ctx, i.cfg.DataDir, source)
	if err != nil {
		return wire.WALInspection{}, engine.LogCommits{}, err
	}
	found := wire.WALInspection{Timeline: fork.Timeline, NewTimeline: fork.NewTimeline, Fork: fork.Position}
	commits, err := i.log.Commits(ctx, i.cfg.DataDir, fork)
	if err == nil {
		found.End, found.Commits = commits.End, commits.All
	}
	return found, commits, err
}

// nameTables tells of the commits which of them were to the tables.
func (i inspection) nameTables(ctx context.Context, socket string, commits engine.LogCommits, into *wire.WALInspection) error {
	ctx, cancel := context.WithTimeout(ctx, logMost)
	defer cancel()
	password, err := process.Secret(i.cfg.SecretDir, wire.AccountAdmin)
	if err != nil {
		return err
	}
	files, err := i.log.Tables(ctx, socket, password, wire.UsersTable, wire.ProbeTable)
	if err != nil {
		return err
	}
	into.UserCommits, into.ProbeCommits = commits.Inserted[files[wire.UsersTable]], commits.Inserted[files[wire.ProbeTable]]
	return nil
}
