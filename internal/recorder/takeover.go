package recorder

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"replab.dev/internal/ledger"
)

// Files beside the ledger.
const (
	stateSuffix   = ".state"
	resultsSuffix = ".results.json.gz"
)

// publishedPatience is how long a restarted recorder waits for its own last word in the ConfigMap, when it has files.
const publishedPatience = 5 * time.Second

// takeOver reads what the previous recorder left, and opens the ledger.
func (w *recorder) takeOver(ctx context.Context) error {
	finished, err := w.takeOverResults()
	if err != nil || finished {
		return err
	}
	if err := w.state.load(); err != nil {
		w.state.fail(err.Error())
		return nil
	}
	fresh := !fileExists(w.cfg.LedgerPath)
	if err := w.takeOverPublished(ctx, fresh); err != nil {
		return err
	}
	if w.ledger, err = ledger.Open(w.cfg.LedgerPath, w.now()); err != nil {
		w.state.fail(err.Error())
		return nil
	}
	w.forwarder.ledger = w.ledger
	w.state.setRestarts(w.ledger.Restarts())
	if at := w.state.get().LoadStartedAt; at != nil {
		w.incomplete = fmt.Sprintf("the recorder was started anew during the load (restart %d): figures of before %s are lost, and the ledger is kept",
			w.ledger.Restarts(), w.now().UTC().Format(time.RFC3339))
		slog.Warn("restarted during the load: earlier figures are lost, and the ledger is kept", "loadStartedAt", at.Time, "restarts", w.ledger.Restarts())
	}
	return nil
}

// takeOverResults takes the results of a recorder that had finished: then there is nothing more to measure.
func (w *recorder) takeOverResults() (finished bool, err error) {
	path := w.cfg.LedgerPath + resultsSuffix
	packed, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read the results of the recorder before: %w", err)
	}
	results, err := unpack(packed)
	if err != nil {
		return false, fmt.Errorf("read the results of the recorder before, %s: %w", path, err)
	}
	w.forwarder.requests.close()
	w.results.Store(&packed)
	w.publisher.finished(packed, results.RecorderState)
	return true, nil
}

// takeOverPublished compares the files with the published state. Without files it waits for that, since a recorder that had measured has lost them.
func (w *recorder) takeOverPublished(ctx context.Context, fresh bool) error {
	if !fresh {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, publishedPatience)
		defer cancel()
	}
	doc, err := published(ctx, w.publisher.board)
	switch {
	case err != nil && fresh:
		return fmt.Errorf("learn whether a recorder has measured here before: %w", err)
	case err != nil:
		slog.Warn("the state in the ConfigMap could not be read: continuing with the files", "error", err)
	case doc == nil:
	case fresh && doc.LoadStartedAt != nil:
		w.state.fail(fmt.Sprintf("the ledger %s of the load that started at %s is gone: was the recorder's volume replaced?",
			w.cfg.LedgerPath, doc.LoadStartedAt.UTC().Format(time.RFC3339)))
	case doc.Failed != "":
		w.state.fail(doc.Failed)
	}
	return nil
}
