package recorder

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/atomicfile"
	"replab.dev/internal/ledger"
	"replab.dev/internal/wire"
)

// publishTimeout bounds how long one finish tries to publish; the caller may ask again.
const publishTimeout = time.Minute

// finish ends the measurement, and publishes and returns the packed results. After an error it is to be called again.
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
	ctx, cancel := context.WithTimeout(ctx, w.forwarder.timeout+publishTimeout)
	defer cancel()
	if err := w.forwarder.requests.drain(ctx); err != nil { // every request is bounded by the timeout
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
	slog.Info("the measurement is finished", "requests", results.Load.Requests, "writes", results.Writes.Sent, "bytes", len(packed))
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
		Load: w.forwarder.figures.Total(), Stages: w.forwarder.figures.Stages(),
		Writes: counts, Acknowledgements: acknowledged, StaleReads: w.forwarder.users.staleReads(), CheckedReads: w.forwarder.users.checkedReads(), StaleUsers: w.forwarder.users.staleUsers(),
		TimelineStepSeconds: 1, K6Version: w.forwarder.generator.name(), Rejections: w.forwarder.rejections.counts(),
	}
	r.Writers, r.UnnamedWrites = slices.Sorted(maps.Keys(w.forwarder.outage.Writers())), w.forwarder.outage.Unnamed()
	r.FinishedAt = new(metav1.NewMicroTime(w.now()))
	if ended := w.forwarder.figures.Ended(); !ended.IsZero() {
		r.LoadEndedAt = new(metav1.NewMicroTime(ended))
	}
	r.Timeline, r.TimelineOmittedSeconds = w.forwarder.figures.Timeline()
	w.probes.report(&r)
	return r
}

// maxResultsBytes bounds the compressed results: a ConfigMap holds 1 MiB in all.
const maxResultsBytes = 900 << 10

// pack compresses the results to at most limit bytes. A timeline that is too large is thinned.
func pack(r wire.RecorderResults, limit int) ([]byte, error) {
	for seconds := r.Timeline; ; {
		packed, err := compress(r)
		if err != nil || len(packed) <= limit {
			return packed, err
		}
		if len(r.Timeline) <= 1 {
			return nil, fmt.Errorf("the results take %d bytes without a timeline, at most %d fit into the ConfigMap", len(packed), limit)
		}
		r.TimelineStepSeconds *= 2
		r.Timeline = thin(seconds, int(r.TimelineStepSeconds))
	}
}

// thin merges each step seconds into one entry, without percentiles.
func thin(seconds []wire.Second, step int) []wire.Second {
	var thinned []wire.Second
	for chunk := range slices.Chunk(seconds, step) {
		merged := wire.Second{At: chunk[0].At}
		for _, s := range chunk {
			merged.Requests += s.Requests
			merged.Failures += s.Failures
			merged.PausedMicroseconds += s.PausedMicroseconds
			merged.LagMicroseconds = larger(merged.LagMicroseconds, s.LagMicroseconds)
			if s.Writer != "" {
				merged.Writer = s.Writer
			}
		}
		thinned = append(thinned, merged)
	}
	return thinned
}

// larger returns the larger lag of each node; a second that was not sampled has none.
func larger(a, b []int64) []int64 {
	if len(a) != len(b) {
		if a == nil {
			return slices.Clone(b)
		}
		return a
	}
	for i := range a {
		a[i] = max(a[i], b[i])
	}
	return a
}

func compress(r wire.RecorderResults) ([]byte, error) {
	var buf bytes.Buffer
	w := gzip.NewWriter(&buf)
	if err := errors.Join(json.NewEncoder(w).Encode(r), w.Close()); err != nil {
		return nil, fmt.Errorf("compress the results: %w", err)
	}
	return buf.Bytes(), nil
}

// unpack reads what pack made.
func unpack(packed []byte) (r wire.RecorderResults, err error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err == nil {
		err = json.NewDecoder(z).Decode(&r)
	}
	if err == nil {
		_, err = io.Copy(io.Discard, z) // to its checksum
	}
	return r, err
}

// countWrites reads the sizes of the ledger's sets from its file, which includes writes before a restart.
func countWrites(path string) (counts wire.LedgerCounts, err error) {
	f, err := os.Open(path)
	if err != nil {
		return counts, err
	}
	defer f.Close()
	sets, err := ledger.Load(f)
	if err != nil {
		return counts, fmt.Errorf("read %s: %w", path, err)
	}
	return wire.LedgerCounts{
		Sent: sets.Sent.Count(), Acknowledged: sets.Acknowledged.Count(),
		Rejected: sets.Rejected.Count(), Indeterminate: sets.Indeterminate.Count(),
	}, nil
}

// acknowledgements reads off the ledger's file when writes of a load were acknowledged; nil without a load.
func acknowledgements(path string, load *metav1.MicroTime) (*wire.Acknowledgements, error) {
	if load == nil {
		return nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	a := wire.NewAcknowledgements(load.Time)
	err = ledger.Read(f, func(r ledger.Record) error {
		if r.Kind == ledger.KindAcknowledged {
			a.Mark(r.At)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return a, nil
}
