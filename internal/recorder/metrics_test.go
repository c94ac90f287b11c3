package recorder

import (
	"net/http"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/prometheus/client_golang/prometheus"

	"replab.dev/internal/metrics"
	"replab.dev/internal/metrics/metricstest"
	"replab.dev/internal/recorder/figures"
	"replab.dev/internal/wire"
)

func TestMetricsAreThoseOfTheDocument(t *testing.T) {
	b := newBench(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(wire.HeaderNode, "node-0")
		if r.Method == http.MethodGet {
			w.WriteHeader(http.StatusNotFound)
		}
	})
	b.cfg.Nodes = []wire.Node{{Name: "node-0", Host: "127.0.0.1"}, {Name: "node-1", Host: "127.0.0.1"}}
	b.cfg.Settings = nil
	w, _ := b.run()
	before := metricstest.Values(t, w.shown, "replab_recorder_load_start_timestamp_seconds")
	if len(before) > 0 {
		t.Errorf("a load that has not begun began at %v", before)
	}
	b.register()
	b.get("http://" + b.cfg.Listen + "/user/get/1")
	w.probes.lastLag.Store(&[]int64{-1, 2_500_000})
	metricstest.Documented(t, "recorder", families(), w.shown)

	for _, c := range []struct {
		family string
		want   map[string]float64
	}{
		{"replab_recorder_requests_total", ofEach(map[string]float64{"register/steady": 1, "profile/steady": 1})},
		{"replab_recorder_failures_total", ofEach(map[string]float64{"profile/steady": 1})},
		{"replab_recorder_request_duration_seconds", map[string]float64{"register/succeeded/steady": 1, "profile/failed/steady": 1}},
		{"replab_recorder_lag_seconds", map[string]float64{"node-1": 2.5}}, // of node-0 nothing was seen, which is no 0
		{"replab_recorder_finished", map[string]float64{"": 0}},
	} {
		told(t, w.shown, c.family, c.want)
	}
	started := metricstest.Values(t, w.shown, "replab_recorder_load_start_timestamp_seconds")[""]
	if at := time.UnixMicro(int64(started * 1e6)); time.Since(at) > time.Minute || time.Since(at) < 0 {
		t.Errorf("the load began at %v", at)
	}
	b.finish()
	told(t, w.shown, "replab_recorder_finished", map[string]float64{"": 1})
}

// ofEach adds a 0 for each stage and operation of a bench that is not among counts: a rate needs the count before the first request.
func ofEach(counts map[string]float64) map[string]float64 {
	for _, stage := range []string{"steady", "cooldown"} {
		for _, op := range []figures.Operation{figures.Register, figures.Profile, figures.Search, figures.Login, figures.Update, figures.Other} {
			if key := op.String() + "/" + stage; counts[key] == 0 {
				counts[key] = 0
			}
		}
	}
	return counts
}

// TestMetricsOfServers: each is told of the servers that count it, and of no others.
func TestMetricsOfServers(t *testing.T) {
	at := metav1.NowMicro()
	r := metrics.New(metrics.Collector{Families: families(), Read: func(tell metrics.Tell) {
		tellCommits(tell, &wire.CommitsResult{Nodes: []wire.NodeCommits{
			{Name: "a", Samples: 3, AcknowledgedWaits: 7, UnacknowledgedWaits: 2}, {Name: "unseen", LastWriteAt: &at},
		}})
		tellCommits(tell, &wire.CommitsResult{OfTransactions: true, Nodes: []wire.NodeCommits{{Name: "p", Samples: 1, DegradedMicroseconds: 1_500_000}}})
		tellMember(tell, wire.NodeGroup{Name: "unseen"})
		tellMember(tell, wire.NodeGroup{Name: "g", Samples: 1, CertificationFailures: 4, ForcedAborts: 5, FlowControlPausedMicroseconds: 250_000, CoveredMicroseconds: 1_000_000, ReceiveQueueMax: new(int64(9))})
	}})
	metricstest.Conventional(t, r)
	for family, want := range map[string]map[string]float64{
		"replab_recorder_commit_waits_total":                      {"a/acknowledged": 7, "a/unacknowledged": 2},
		"replab_recorder_degraded_seconds_total":                  {"p": 1.5},
		"replab_recorder_group_conflicts_total":                   {"certification/g": 4, "forced_abort/g": 5},
		"replab_recorder_group_flow_control_paused_seconds_total": {"g": .25},
		"replab_recorder_group_covered_seconds_total":             {"g": 1},
		"replab_recorder_group_receive_queue_peak_transactions":   {"g": 9},
	} {
		told(t, r, family, want)
	}
}

func told(t *testing.T, from prometheus.Gatherer, family string, want map[string]float64) {
	t.Helper()
	got := metricstest.Values(t, from, family)
	for labels, value := range want {
		if v, there := got[labels]; !there || v != value {
			t.Errorf("%s of %q is %v (%v), want %v", family, labels, v, there, value)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s: %v, want %v", family, got, want)
	}
}
