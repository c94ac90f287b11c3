package recorder

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"replab.dev/internal/wire"
)

// TestRejectedWritesAreCountedByTheirReasons, and no others are.
func TestRejectedWritesAreCountedByTheirReasons(t *testing.T) {
	answers := make(chan http.HandlerFunc, 10)
	a := newApp(t, func(w http.ResponseWriter, r *http.Request) { (<-answers)(w, r) })
	d, _ := newForwarder(t, a.Listener.Addr().String(), time.Minute)
	url := "http://" + serveForwarder(t, d)
	if got := d.rejections.counts(); got == nil || len(got) != 0 {
		t.Errorf("before any write: %v, want none, which is known", got)
	}
	for _, answer := range []http.HandlerFunc{
		answering(201), answering(503, wire.HeaderRejected, wire.RejectedDeadlock), answering(503, wire.HeaderRejected, wire.RejectedDeadlock),
		answering(503, wire.HeaderRejected, wire.RejectedReadOnly), answering(503, wire.HeaderRejected, "a word of the app's own"), answering(503),
	} {
		answers <- answer
		register(t, url)
	}
	a.Close()
	register(t, url)
	want := map[string]int64{wire.RejectedDeadlock: 2, wire.RejectedReadOnly: 1, wire.RejectedNotSent: 1, "other": 1}
	if diff := cmp.Diff(want, d.rejections.counts()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
