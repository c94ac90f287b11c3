package recorder

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/atomicfile"
	"replab.dev/internal/wire"
)

// publishTimeout bounds how long one finish tries to publish; the caller may ask again.
const publishTimeout = time.Minute

// finish ends the measurement and publishes the results, which it returns packed. Asked again it publishes the same ones
// again. An error means that they are not published yet, and that the caller should ask again.
func (w *recorder) finish(ctx context.Context) ([]byte, error) {
	w.finishing.Lock()
	defer w.finishing.Unlock()
	if w.results.Load() == nil {
		if err := w.conclude(ctx); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	if err := w.publisher.publish(ctx); err != nil {
		return nil, fmt.Errorf("the results are kept and not published yet: %w", err)
	}
	return *w.results.Load(), nil
}

// conclude ends everything in its order, and makes the results durable beside the ledger.
func (w *recorder) conclude(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, w.door.timeout+publishTimeout)
	defer cancel()
	if err := w.door.gate.shut(ctx); err != nil { // every request is bounded by the timeout
		return fmt.Errorf("wait for requests in flight: %w", err)
	}
	w.probes.stop()
	if w.ledger != nil {
		if err := w.ledger.Close(); err != nil {
			w.state.fail(err.Error())
		}
	}
	results := w.measured()
	packed, err := pack(results, maxResultsBytes)
	if err == nil {
		err = atomicfile.WriteFile(w.cfg.LedgerPath+resultsSuffix, packed, 0o600)
	}
	if err != nil { // without the file they can still be published, once it is said that they are not safe here
		w.state.fail(fmt.Sprintf("keep the results: %v", err))
		results.Failed = w.state.failure()
		if packed, err = pack(results, maxResultsBytes); err != nil {
			return err
		}
	}
	w.publisher.finished(packed, results.RecorderState)
	w.results.Store(&packed)
	slog.Info("finished", "requests", results.Load.Requests, "writes", results.Writes.Sent, "bytes", len(packed))
	return nil
}

// measured puts everything together that was measured.
func (w *recorder) measured() wire.RecorderResults {
	counts, err := countWrites(w.cfg.LedgerPath)
	if err != nil {
		w.state.fail(fmt.Sprintf("count the writes: %v", err))
	}
	acknowledged, err := acknowledgements(w.cfg.LedgerPath, w.state.get().LoadStartedAt)
	if err != nil {
		w.state.fail(fmt.Sprintf("learn when writes were acknowledged: %v", err))
	}
	r := wire.RecorderResults{
		RecorderState: w.state.get(), Incomplete: w.incomplete,
		Load: w.door.figures.Total(), Stages: w.door.figures.Stages(),
		Writes: counts, Acknowledgements: acknowledged, StaleReads: w.door.users.staleReads(), CheckedReads: w.door.users.checkedReads(), StaleUsers: w.door.users.staleUsers(),
		TimelineStepSeconds: 1, K6Version: w.door.generator.name(), Rejections: w.door.rejections.counts(),
	}
	r.Writers, r.UnnamedWrites = slices.Sorted(maps.Keys(w.door.outage.Writers())), w.door.outage.Unnamed()
	r.FinishedAt = new(metav1.NewMicroTime(w.now()))
	if ended := w.door.figures.Ended(); !ended.IsZero() {
		r.LoadEndedAt = new(metav1.NewMicroTime(ended))
	}
	r.Timeline, r.TimelineOmittedSeconds = w.door.figures.Timeline()
	w.probes.report(&r)
	return r
}
