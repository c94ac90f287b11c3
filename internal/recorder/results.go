package recorder

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"replab.dev/internal/wire"
)

// maxResultsBytes bounds the compressed results: a ConfigMap holds 1 MiB in all.
const maxResultsBytes = 900 << 10

// pack returns the results as compressed JSON of at most limit bytes. If they are larger the timeline is thinned, and
// says so; all other figures stay as they are.
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

// thin merges each step seconds into one entry. Percentiles are left out: those of the whole cannot be made from those
// of its parts.
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
