package recorder

import (
	"maps"
	"slices"
	"sync"

	"replab.dev/internal/recorder/upstream"
	"replab.dev/internal/wire"
)

// rejections count the rejected writes of the load by their reasons. The zero value is ready.
type rejections struct {
	mu sync.Mutex
	by map[string]int64
}

func (r *rejections) add(reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.by == nil {
		r.by = map[string]int64{}
	}
	r.by[reason]++
}

// counts are those so far, never nil: none is a count too.
func (r *rejections) counts() map[string]int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	counts := maps.Clone(r.by)
	if counts == nil {
		counts = map[string]int64{}
	}
	return counts
}

// known bounds the reasons: an app of the user's own may give any.
var known = []string{
	wire.RejectedValidation, wire.RejectedNotSent, wire.RejectedReadOnly, wire.RejectedDeadlock, wire.RejectedOverload, wire.RejectedRefused,
}

// reasonOf a rejected write, which never reached the app where there is no answer.
func reasonOf(response *upstream.Response) string {
	if response == nil {
		return wire.RejectedNotSent
	}
	if reason := response.Header.Get(wire.HeaderRejected); slices.Contains(known, reason) {
		return reason
	}
	return "other"
}
