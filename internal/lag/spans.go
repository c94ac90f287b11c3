package lag

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// span is the writes first to last, both included.
type span struct{ first, last uint64 }

// spans are in order and do not overlap.
type spans []span

// has tells whether a write is in one of the spans.
func (s spans) has(seq uint64) bool {
	i, _ := slices.BinarySearchFunc(s, seq, func(x span, seq uint64) int {
		if x.last < seq {
			return -1
		}
		return 1
	})
	return i < len(s) && s[i].first <= seq
}

// parseSpans reads the intervals of a GTID set that has at most one source and no tag, as in "uuid:1-5:8".
func parseSpans(set string) (spans, error) {
	if set == "" {
		return nil, nil
	}
	parts := strings.Split(set, ":")
	var out spans
	for _, part := range parts[1:] {
		from, to, ranged := strings.Cut(part, "-")
		if !ranged {
			to = from
		}
		first, err1 := strconv.ParseUint(from, 10, 64)
		last, err2 := strconv.ParseUint(to, 10, 64)
		if err1 != nil || err2 != nil || first > last {
			return nil, fmt.Errorf("GTID set %q: %q is no interval: the server answered something else than the probe's own writes", set, part)
		}
		out = append(out, span{first, last})
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("GTID set %q has no interval: the server answered something else than the probe's own writes", set)
	}
	return out, nil
}
