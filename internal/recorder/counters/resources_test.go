package counters

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/wire"
)

// used makes a sample whose counters are all multiples of n: CPU n s, read 10n, written 20n, received 30n, sent 40n.
func used(seconds float64, pid, n, resident int64) wire.Resources {
	return wire.Resources{
		At: metav1.NewMicroTime(after(seconds)), ServerPID: pid, ResidentBytes: resident,
		Threads: resident / 100, CPUMicroseconds: n * 1_000_000, ReadBytes: 10 * n, WrittenBytes: 20 * n,
		NetworkReceivedBytes: 30 * n, NetworkSentBytes: 40 * n,
	}
}

func TestResources(t *testing.T) {
	type sample struct {
		node, stage string
		resources   wire.Resources
	}
	for name, c := range map[string]struct {
		samples []sample
		want    []wire.NodeResources
	}{
		"one sample is a baseline and no result": {
			samples: []sample{{"a", "steady", used(0, 7, 5, 100)}},
		},
		"differences count for the stage of the later sample": {
			samples: []sample{
				{"a", "", used(0, 7, 5, 900)},
				{"a", "warmup", used(1, 7, 6, 100)},
				{"a", "steady", used(2, 7, 8, 300)},
				{"a", "steady", used(4, 7, 9, 200)},
			},
			want: []wire.NodeResources{
				{
					Node: "a", Stage: "warmup", DurationMicroseconds: 1_000_000, CPUMillicores: 1000, ResidentPeakBytes: 100, ThreadsPeak: 1,
					ReadBytes: 10, WrittenBytes: 20, NetworkReceivedBytes: 30, NetworkSentBytes: 40,
				},
				{
					Node: "a", Stage: "steady", DurationMicroseconds: 3_000_000, CPUMillicores: 1000, ResidentPeakBytes: 300, ThreadsPeak: 3,
					ReadBytes: 30, WrittenBytes: 60, NetworkReceivedBytes: 90, NetworkSentBytes: 120,
				},
			},
		},
		"time in which a node did not answer counts for no later stage, and a lost sample at its beginning does": {
			samples: []sample{
				{"a", "", used(0, 7, 0, 1)},
				{"a", "warmup", used(2, 7, 2, 1)},
				{"a", "steady", used(12, 8, 50, 1)},
				{"a", "steady", used(14, 8, 52, 1)},
			},
			want: []wire.NodeResources{
				{
					Node: "a", Stage: "warmup", DurationMicroseconds: 2_000_000, CPUMillicores: 1000, ResidentPeakBytes: 1,
					ReadBytes: 20, WrittenBytes: 40, NetworkReceivedBytes: 60, NetworkSentBytes: 80,
				},
				{
					Node: "a", Stage: "steady", DurationMicroseconds: 2_000_000, CPUMillicores: 1000, ResidentPeakBytes: 1,
					ReadBytes: 20, WrittenBytes: 40, NetworkReceivedBytes: 60, NetworkSentBytes: 80,
				},
			},
		},
		"time without load counts for no stage": {
			samples: []sample{
				{"a", "steady", used(0, 7, 0, 1)},
				{"a", "steady", used(1, 7, 1, 1)},
				{"a", "", used(2, 7, 50, 1)},
				{"a", "steady", used(3, 7, 51, 1)},
			},
			want: []wire.NodeResources{{
				Node: "a", Stage: "steady", DurationMicroseconds: 2_000_000, CPUMillicores: 1000, ResidentPeakBytes: 1,
				ReadBytes: 20, WrittenBytes: 40, NetworkReceivedBytes: 60, NetworkSentBytes: 80,
			}},
		},
		"a new process counts from 0, its pod's network goes on": {
			samples: []sample{
				{"a", "steady", used(0, 7, 100, 1)},
				{"a", "steady", wire.Resources{
					At: metav1.NewMicroTime(after(1)), ServerPID: 0, NetworkReceivedBytes: 3010, NetworkSentBytes: 4020,
				}},
				{"a", "steady", wire.Resources{
					At: metav1.NewMicroTime(after(2)), ServerPID: 9, ResidentBytes: 1, CPUMicroseconds: 500_000, ReadBytes: 110_000,
					WrittenBytes: 7, NetworkReceivedBytes: 3020, NetworkSentBytes: 4030,
				}},
			},
			want: []wire.NodeResources{{
				Node: "a", Stage: "steady", DurationMicroseconds: 2_000_000, CPUMillicores: 250, ResidentPeakBytes: 1,
				ReadBytes: 110_000, WrittenBytes: 7, NetworkReceivedBytes: 20, NetworkSentBytes: 30,
			}},
		},
		"a new process that has overtaken the old one's counters counts from 0": {
			samples: []sample{{"a", "steady", used(0, 7, 2, 1)}, {"a", "steady", wire.Resources{
				At: metav1.NewMicroTime(after(1)), ServerPID: 9, ResidentBytes: 1, CPUMicroseconds: 3_000_000, ReadBytes: 100,
				WrittenBytes: 200, NetworkReceivedBytes: 61, NetworkSentBytes: 82,
			}}},
			want: []wire.NodeResources{{
				Node: "a", Stage: "steady", DurationMicroseconds: 1_000_000, CPUMillicores: 3000, ResidentPeakBytes: 1,
				ReadBytes: 100, WrittenBytes: 200, NetworkReceivedBytes: 1, NetworkSentBytes: 2,
			}},
		},
		"a new pod counts from 0 all over": {
			samples: []sample{{"a", "steady", used(0, 7, 100, 1)}, {"a", "steady", used(1, 7, 2, 1)}},
			want: []wire.NodeResources{{
				Node: "a", Stage: "steady", DurationMicroseconds: 1_000_000, CPUMillicores: 2000, ResidentPeakBytes: 1,
				ReadBytes: 20, WrittenBytes: 40, NetworkReceivedBytes: 60, NetworkSentBytes: 80,
			}},
		},
		"a clock that went back gives no figures for that time": {
			samples: []sample{{"a", "steady", used(5, 7, 1, 1)}, {"a", "steady", used(4, 7, 9, 1)}, {"a", "steady", used(5, 7, 10, 1)}},
			want: []wire.NodeResources{{
				Node: "a", Stage: "steady", DurationMicroseconds: 1_000_000, CPUMillicores: 1000, ResidentPeakBytes: 1,
				ReadBytes: 10, WrittenBytes: 20, NetworkReceivedBytes: 30, NetworkSentBytes: 40,
			}},
		},
		"nodes do not mix, and come in their order": {
			samples: []sample{
				{"b", "steady", used(0, 1, 0, 1)},
				{"a", "steady", used(0, 1, 0, 1)},
				{"b", "steady", used(1, 1, 1, 1)},
				{"a", "steady", used(2, 1, 1, 1)},
			},
			want: []wire.NodeResources{
				{
					Node: "a", Stage: "steady", DurationMicroseconds: 2_000_000, CPUMillicores: 500, ResidentPeakBytes: 1,
					ReadBytes: 10, WrittenBytes: 20, NetworkReceivedBytes: 30, NetworkSentBytes: 40,
				},
				{
					Node: "b", Stage: "steady", DurationMicroseconds: 1_000_000, CPUMillicores: 1000, ResidentPeakBytes: 1,
					ReadBytes: 10, WrittenBytes: 20, NetworkReceivedBytes: 30, NetworkSentBytes: 40,
				},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := NewResources([]string{"a", "b"}, []string{"warmup", "steady"})
			for _, s := range c.samples {
				r.Add(s.node, "", s.stage, s.resources)
			}
			if diff := cmp.Diff(c.want, r.Result()); diff != "" {
				t.Errorf("resources (-want +got):\n%s", diff)
			}
		})
	}
}

// TestProcessesOfOneNameAreSummed over the time of the one that was seen longest.
func TestProcessesOfOneNameAreSummed(t *testing.T) {
	r := NewResources([]string{"app"}, []string{"steady"})
	sample := func(second, cpu int64) wire.Resources {
		return wire.Resources{At: metav1.NewMicroTime(after(float64(second))), ServerPID: 1, CPUMicroseconds: cpu * 1_000_000, ResidentBytes: 10, Threads: 2, NetworkSentBytes: 100 * second}
	}
	for _, s := range []struct {
		at          string
		second, cpu int64
	}{{"a", 0, 5}, {"b", 0, 9}, {"a", 4, 7}, {"b", 2, 10}} {
		r.Add("app", s.at, "steady", sample(s.second, s.cpu))
	}
	want := []wire.NodeResources{{Node: "app", Stage: "steady", DurationMicroseconds: 4_000_000, CPUMillicores: 750, ResidentPeakBytes: 20, ThreadsPeak: 4, NetworkSentBytes: 600}}
	if diff := cmp.Diff(want, r.Result()); diff != "" {
		t.Errorf("resources (-want +got):\n%s", diff)
	}
}
