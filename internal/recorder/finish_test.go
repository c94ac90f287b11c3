package recorder

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"replab.dev/internal/ledger"
	"replab.dev/internal/wire"
)

func TestFinish(t *testing.T) {
	b := newBench(t, answering(201))
	b.run()
	if status, body := b.get(b.control(wire.RecorderPathLedger)); status != http.StatusConflict {
		t.Errorf("the ledger before finish: %d %s", status, body)
	}
	for range 7 {
		b.register()
	}
	unauthorized, err := http.Post(b.control(wire.RecorderPathFinish), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	unauthorized.Body.Close()
	if unauthorized.StatusCode != http.StatusUnauthorized {
		t.Errorf("finish without the token: %s", unauthorized.Status)
	}
	request, err := http.NewRequest(http.MethodPost, b.control(wire.RecorderPathFinish), nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer test-token")
	request.Header.Set("Prefer", "return=minimal")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusNoContent {
		t.Errorf("finish without results: %s", answer.Status)
	}
	status, first := b.finish()
	if status != http.StatusOK || first.Load.Requests != 7 || first.Incomplete != "" || first.Failed != "" || first.FinishedAt == nil {
		t.Errorf("finish: %d, %+v", status, first)
	}
	if want := (wire.LedgerCounts{Sent: 7, Acknowledged: 7}); first.Writes != want {
		t.Errorf("writes %+v, want %+v", first.Writes, want)
	}
	a := first.Acknowledgements
	if last, some := a.LastBefore(first.FinishedAt.Add(time.Second)); !some || last.Before(a.From.Time) || last.After(first.FinishedAt.Time) {
		t.Errorf("acknowledgements %+v, want marks between the load's start and the end", a)
	}
	if status := b.register(); status != http.StatusServiceUnavailable {
		t.Errorf("a write after finish has status %d", status)
	}
	_, second := b.finish()
	if published := b.board.results(t); !sameJSON(t, first, second) || !sameJSON(t, first, published) {
		t.Error("finish again, and what is published, differ from the first answer")
	}
	if got := b.board.state(t); got.FinishedAt == nil || got.LoadStartedAt == nil {
		t.Errorf("published state %+v", got)
	}
	status, body := b.get(b.control(wire.RecorderPathLedger))
	sets, err := ledger.Load(bytes.NewReader(body))
	if status != http.StatusOK || err != nil || sets.Acknowledged.Count() != 7 || sets.Sent.Count() != 7 {
		t.Errorf("ledger: status %d, %v, %d acknowledged", status, err, sets.Acknowledged.Count())
	}
}

func sameJSON(t *testing.T, a, b any) bool {
	t.Helper()
	x, err1 := json.Marshal(a)
	y, err2 := json.Marshal(b)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	return bytes.Equal(x, y)
}

func TestFinishWithoutALoadHasNothingButZeroRequests(t *testing.T) {
	b := newBench(t, answering(201))
	b.run()
	_, got := b.finish()
	if got.LoadStartedAt != nil || got.Acknowledgements != nil || got.Load.Requests != 0 || got.Load.Latency != nil || len(got.Timeline) != 0 ||
		len(got.Stages) != 2 || got.Lag != nil || got.Availability != nil || got.Commits != nil {
		t.Errorf("results %+v", got)
	}
}

func TestAnUnpublishedFinishIsAnErrorAndMayBeRepeated(t *testing.T) {
	b := newBench(t, answering(201))
	b.run()
	b.register()
	b.board.failWith(errors.New("the API server is away"))
	if status, _ := b.finish(); status != http.StatusServiceUnavailable {
		t.Errorf("status %d", status)
	}
	b.board.failWith(nil)
	if status, got := b.finish(); status != http.StatusOK || got.Writes.Acknowledged != 1 || b.board.results(t).Writes.Acknowledged != 1 {
		t.Errorf("status %d, %+v", status, got)
	}
}

func TestMetrics(t *testing.T) {
	b := newBench(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			w.WriteHeader(http.StatusNotFound)
		}
	})
	b.run()
	b.register()
	b.get("http://" + b.cfg.Listen + "/user/get/1")
	_, body := b.get(b.control(wire.RecorderPathMetrics))
	for _, line := range []string{
		`replab_recorder_requests_total{operation="register",stage="steady"} 1`,
		`replab_recorder_failures_total{operation="profile",stage="steady"} 1`,
		`replab_recorder_request_duration_seconds_count{operation="register",outcome="succeeded",stage="steady"} 1`,
		`replab_recorder_request_duration_seconds_count{operation="profile",outcome="failed",stage="steady"} 1`,
		`replab_recorder_writes_total{outcome="acknowledged"} 1`,
		`replab_recorder_writes_total{outcome="indeterminate"} 0`,
		`replab_recorder_stale_reads_total 0`,
		`replab_recorder_restarts 0`,
		`replab_recorder_failed 0`,
	} {
		if !strings.Contains(string(body), line+"\n") {
			t.Errorf("no line %s in\n%s", line, body)
		}
	}
}

func TestConfigurationsThatAreRefused(t *testing.T) {
	good := newBench(t, answering(200)).cfg
	if err := validate(good.Stages); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(*wire.RecorderConfig)
		want   string
	}{
		"no stage":                  {func(c *wire.RecorderConfig) { c.Stages = nil }, "there is none"},
		"a stage of unknown length": {func(c *wire.RecorderConfig) { c.Stages[0].DurationSeconds = 0 }, `"steady" of 0 s`},
		"two stages of one name":    {func(c *wire.RecorderConfig) { c.Stages = append(c.Stages, c.Stages[0]) }, "a name of its own"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := good
			cfg.Stages = slices.Clone(good.Stages)
			c.change(&cfg)
			if err := validate(cfg.Stages); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}
