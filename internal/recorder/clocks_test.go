package recorder

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/wire"
)

func TestClocksOfOtherProcesses(t *testing.T) {
	ahead := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(wire.ClockReading{Now: metav1.NewMicroTime(time.Now().Add(900 * time.Millisecond))})
	}))
	defer ahead.Close()
	silent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) }))
	defer silent.Close()
	away := httptest.NewServer(http.RedirectHandler(ahead.URL, http.StatusFound))
	defer away.Close()
	now := steadyClock()
	c := newClocks([]wire.ClockSource{
		{Name: "ahead", URL: ahead.URL}, {Name: "silent", URL: silent.URL}, {Name: "another's", URL: away.URL}, {Name: "none", URL: "http://127.0.0.1:1/"},
	}, now)
	begin := now()
	c.sample(t.Context())
	took := now().Sub(begin).Microseconds()
	got := c.result()
	if len(got) != 1 || got[0].Name != "ahead" || got[0].LeastAheadMicroseconds > 900_000 || got[0].MostAheadMicroseconds < 900_000-1 {
		t.Fatalf("clocks %+v, want the one that is 900 ms ahead", got)
	}
	if width := got[0].MostAheadMicroseconds - got[0].LeastAheadMicroseconds; width > took+4 {
		t.Errorf("bounds %d µs apart by a question of %d µs at most", width, took)
	}
}

// TestTheStateHasTheRecordersTime is what the operator measures its own clock by.
func TestTheStateHasTheRecordersTime(t *testing.T) {
	b := newBench(t, answering(200))
	b.run()
	before := time.Now()
	_, body := b.get("http://" + b.cfg.ListenControl + wire.RecorderPathState)
	var state wire.RecorderState
	if err := json.Unmarshal(body, &state); err != nil || state.Now == nil {
		t.Fatalf("state %s: %v", body, err)
	}
	if off := state.Now.Sub(before); off < -time.Millisecond || off > time.Since(before)+time.Millisecond {
		t.Errorf("its time is %v from ours", off)
	}
}
