package counters

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"replab.dev/internal/protocol"
)

var begin = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func after(seconds float64) time.Time {
	return begin.Add(time.Duration(seconds * float64(time.Second)))
}

func TestSemiSyncCounters(t *testing.T) {
	type sample struct {
		node    string
		seconds float64 // since the load's start, negative before
		commits Commits
	}
	for name, c := range map[string]struct {
		samples []sample
		want    *protocol.SemiSyncResult
	}{
		"without a sample there is no result": {},
		"samples before the load alone are no result": {
			samples: []sample{{"a", -1, Commits{100, 5, 60}}},
		},
		"what was counted before the load is left out": {
			samples: []sample{{"a", -2, Commits{90, 2, 59}}, {"a", -1, Commits{100, 5, 60}}, {"a", 1, Commits{130, 5, 62}}},
			want:    &protocol.SemiSyncResult{AcknowledgedCommits: 30, Samples: 1},
		},
		"nodes are added up": {
			samples: []sample{
				{"a", -1, Commits{100, 0, 60}},
				{"b", -1, Commits{0, 0, 60}},
				{"a", 1, Commits{110, 1, 62}},
				{"b", 1, Commits{3, 2, 62}},
			},
			want: &protocol.SemiSyncResult{AcknowledgedCommits: 13, UnacknowledgedCommits: 3, Samples: 2},
		},
		"a node first seen in the load gives its baseline": {
			samples: []sample{{"a", 1, Commits{100, 7, 60}}, {"a", 2, Commits{104, 8, 61}}},
			want:    &protocol.SemiSyncResult{AcknowledgedCommits: 4, UnacknowledgedCommits: 1, Samples: 2},
		},
		"a node first seen in the load that was started in it counts whole": {
			samples: []sample{{"a", 20, Commits{6, 7, 4}}},
			want:    &protocol.SemiSyncResult{AcknowledgedCommits: 6, UnacknowledgedCommits: 7, Samples: 1},
		},
		"a counter that went back counts from 0": {
			samples: []sample{{"a", -1, Commits{100, 5, 60}}, {"a", 1, Commits{150, 5, 62}}, {"a", 9, Commits{20, 0, 3}}},
			want:    &protocol.SemiSyncResult{AcknowledgedCommits: 70, Samples: 2},
		},
		"a server that was started again and has overtaken its old counter counts from 0": {
			samples: []sample{{"a", -1, Commits{10, 0, 60}}, {"a", 9, Commits{40, 3, 5}}},
			want:    &protocol.SemiSyncResult{AcknowledgedCommits: 40, UnacknowledgedCommits: 3, Samples: 1},
		},
		"a young server that was restarted between distant samples counts from 0": {
			samples: []sample{{"a", -1, Commits{10, 0, 2}}, {"a", 29, Commits{40, 3, 5}}},
			want:    &protocol.SemiSyncResult{AcknowledgedCommits: 40, UnacknowledgedCommits: 3, Samples: 1},
		},
		"an uptime cut to whole seconds is no restart": {
			samples: []sample{{"a", -1, Commits{10, 0, 60}}, {"a", 0.9, Commits{11, 0, 61}}, {"a", 2.8, Commits{12, 0, 62}}},
			want:    &protocol.SemiSyncResult{AcknowledgedCommits: 2, Samples: 2},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var s SemiSync
			for _, x := range c.samples {
				if x.seconds >= 0 {
					s.Start(begin)
				}
				s.Add(x.node, after(x.seconds), x.commits)
			}
			if diff := cmp.Diff(c.want, s.Result()); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
		})
	}
}
