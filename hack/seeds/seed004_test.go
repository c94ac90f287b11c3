package main

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
	"replab.dev/internal/results"
	"replab.dev/internal/wire"
)

// madeOf is a run of 100 seconds.
func madeOf(requests, failures, p99 int64, lower ...v1alpha1.Percentile) results.Results {
	r := results.Results{Recorder: &wire.RecorderResults{Load: wire.StageResult{
		Requests: requests, Failures: failures, Answered: requests, DurationMicroseconds: 100_000_000, Latency: &wire.Latency{P99Microseconds: p99, LowerBounds: lower},
	}}}
	r.Status.Verdict = v1alpha1.VerdictPassed
	return r
}

// TestConclusionsStandBesideTheRuns: what the document says as it says it, and of runs what they have, against the single server's.
func TestConclusionsStandBesideTheRuns(t *testing.T) {
	quorum := madeOf(90_000, 900, 250_000, v1alpha1.P99)
	quorum.Status.Replication = &v1alpha1.ReplicationStatus{Lag: &v1alpha1.LagStatus{MaxMicroseconds: ptr.To[int64](12_340)}}
	(*figure.Bounds)(&quorum.Status.Bounds).AtLeast("replication.lag.maxMicroseconds", 12_340, "why")
	quorum.Status.Nodes = []v1alpha1.NodeStatus{
		{Name: "seed-004-quorum-db-0", Rows: ptr.To[int64](7), RejoinedRows: ptr.To[int64](9)}, {Name: "seed-004-quorum-db-1", Rows: ptr.To[int64](9)}, {Name: "seed-004-quorum-db-2"},
	}
	got := text004(map[string]results.Results{
		"seed-004-single": madeOf(100_000, 0, 200_000), "seed-004-quorum": quorum, "seed-004-promote": {},
	})
	for _, want := range []string{
		"Single Instance             24           11         5721          11        -                    | 1000.0             0.200 s            100000             0.00       -\n",
		"Async 1 Master - 2 Slaves   11 (-55%)    11 (+0%)   2553 (-56%)   4 (-74%)  300 - 400 ms         | not run\n",
		"Quorum 1 Master - 2 Slaves  26 (+136%)   11 (+0%)   7264 (+27%)   1 (-90%)  150 - 200 ms (-50%)  | 900.0 (-10%)       ≥ 0.250 s (+25%)   90000 (-10%)       1.00       ≥12.34ms\n",
		"Promote 1 Master - 1 Slave  16 (-33%)    11 (+0%)   3932 (-32%)   11 (+0%)  0 ms (-100%)         | nothing was answered\n",
		"\nseed-004-quorum: 1 run, Passed; rows: seed-004-quorum-db-0 9, seed-004-quorum-db-1 9\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no line %q in\n%s", want, got)
		}
	}
	alone := text004(map[string]results.Results{"seed-004-quorum": quorum})
	if !strings.Contains(alone, "| 900.0              ≥ 0.250 s          90000              1.00       ≥12.34ms\n") {
		t.Errorf("without the single server's run nothing can be compared:\n%s", alone)
	}
}

func TestSeedsThatAreNotThere(t *testing.T) {
	for _, args := range [][]string{nil, {"002"}, {"004", "default", "more"}} {
		if err := show(context.Background(), io.Discard, args); err == nil || !strings.Contains(err.Error(), "001 or 004") {
			t.Errorf("%q: %v", args, err)
		}
	}
	if names := documents["004"].experiments; !slices.Contains(names, "seed-004-promote") || len(names) != 4 {
		t.Errorf("experiments of 004: %q", names)
	}
}
