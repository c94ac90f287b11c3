// Package inspect keeps what a node held when its server was about to be started again. The start wrapper runs the server alone, the
// agent reads it through its socket and keeps the ids that it found, and the wrapper goes on. They tell each other by files: the wrapper in the
// folder of the socket, the agent in the one of the holds.
package inspect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"time"

	"k8s.io/utils/ptr"

	"replab.dev/internal/agent/watch"
	"replab.dev/internal/engine"
	"replab.dev/internal/ledger"
	"replab.dev/internal/wire"
)

const (
	lookInterval = 100 * time.Millisecond
	// setMost bounds the memory that ids may take. Ids that are dealt out in turn take 1.2 MiB for 8,000,000.
	setMost = 48 << 20
	// writeIDColumn of wire.UsersTable is the ledger's id.
	writeIDColumn = "write_id"
)

// Inspector is the agent's part: it reads the server of a start that its wrapper has noted, and keeps what it has found.
type Inspector struct {
	runDir, holdDir string
	open            func(ctx context.Context, socket string) (engine.Rows, error)
	store           *store
	kept            string // id of the last start of which the wrapper was told that it is kept
}

// New takes up what an earlier agent has left in stateDir.
func New(stateDir, holdDir, runDir string, open func(ctx context.Context, socket string) (engine.Rows, error)) (*Inspector, error) {
	s, err := openStore(stateDir)
	return &Inspector{runDir: runDir, holdDir: holdDir, open: open, store: s}, err
}

// All are the inspections in their order.
func (i *Inspector) All() wire.Inspections { return i.store.all() }

// IDs are those that all inspections together have read, as a file; ErrUnknown when none has read any. The caller closes it.
func (i *Inspector) IDs() (io.ReadCloser, error) { return i.store.open() }

// Run reads what there is to read until ctx ends.
func (i *Inspector) Run(ctx context.Context) {
	said := ""
	watch.Every(ctx, lookInterval, func() {
		if err := i.look(ctx); err != nil && err.Error() != said && ctx.Err() == nil {
			said = err.Error()
			slog.Warn("inspecting the data before a start failed, trying again", "error", err)
		}
	})
}

// look does what the wrapper's note asks for. It may be repeated.
func (i *Inspector) look(ctx context.Context) error {
	asked, err := Asked(i.runDir)
	if err != nil || asked == nil {
		return err
	}
	for _, e := range asked.Earlier {
		if i.store.get(e.ID) == nil {
			if err := i.store.put(unread(e), nil); err != nil {
				return err
			}
		}
	}
	if err := i.take(ctx, asked); err != nil || !asked.Final || i.kept == asked.ID {
		return err
	}
	if err := Keep(i.holdDir, asked.ID); err != nil {
		return err
	}
	i.kept = asked.ID
	return nil
}

// take keeps what the wrapper has noted of its last start, and reads what it asks to be read.
func (i *Inspector) take(ctx context.Context, asked *Request) error {
	known := i.store.get(asked.ID)
	switch {
	case known == nil && asked.Socket != "":
		found, held, err := i.read(ctx, asked)
		if err != nil {
			return err
		}
		if err := i.store.put(found, held); err != nil {
			return err
		}
		slog.Info("the data were inspected before a start", "id", found.ID, "rows", *found.Rows, "writeIDs", *found.WriteIDs)
		return Answer(i.holdDir, asked.ID)
	case known == nil && asked.Final:
		return i.store.put(unread(asked.Inspection), nil)
	case known != nil && asked.Final && moreIsKnown(*known, asked.Inspection):
		known.Milliseconds, known.Intact, known.WAL = asked.Milliseconds, asked.Intact, asked.WAL
		return i.store.put(*known, nil)
	case known != nil && asked.Socket != "": // the agent died between keeping and telling
		return Answer(i.holdDir, asked.ID)
	}
	return nil
}

// moreIsKnown tells whether the wrapper knows more of an inspection than is kept.
func moreIsKnown(known, final wire.Inspection) bool {
	return known.Milliseconds != final.Milliseconds || known.Intact != final.Intact || known.WAL == nil && final.WAL != nil
}

// unread is a start as the wrapper noted it, of which this agent has read nothing.
func unread(s wire.Inspection) wire.Inspection {
	if s.Error == "" && !s.Fresh && !s.Unfinished && !s.Intact {
		s.Error = "the agent has no record of what it read"
	}
	return s
}

// read reads a server that runs alone, and returns what all inspections with this one have found. What it has read counts only when the
// wrapper still waits for it: the server may have been another one's by then.
func (i *Inspector) read(ctx context.Context, asked *Request) (wire.Inspection, *ledger.Bitmap, error) {
	found := asked.Inspection
	rows, err := i.open(ctx, asked.Socket)
	if err != nil {
		return found, nil, err
	}
	defer rows.Close()
	held, err := i.store.held()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return found, nil, err
	}
	visited, writes := 0, int64(0)
	err = rows.IDs(ctx, wire.UsersTable, writeIDColumn, func(id uint64, null bool) error {
		if !null {
			held.Add(id)
			writes++
		}
		if visited++; visited%100_000 == 0 && held.Bytes() > setMost {
			return fmt.Errorf("the write ids take more than %d MiB of memory, so they are not those that the recorder gave", setMost>>20)
		}
		return nil
	})
	if err != nil {
		return found, nil, fmt.Errorf("read the write ids: %w", err)
	}
	count, err := rows.Count(ctx, wire.UsersTable)
	if err != nil {
		return found, nil, fmt.Errorf("count the rows: %w", err)
	}
	if found.Position, err = rows.Executed(ctx); err != nil {
		return found, nil, fmt.Errorf("ask for the position: %w", err)
	}
	still, err := Asked(i.runDir)
	if err != nil {
		return found, nil, err
	}
	if still == nil || still.ID != asked.ID || still.Socket == "" {
		return found, nil, fmt.Errorf("inspection %s took too long: the start went on without it", asked.ID)
	}
	found.Rows, found.WriteIDs = ptr.To(count), ptr.To(writes)
	return found, &held, nil
}
