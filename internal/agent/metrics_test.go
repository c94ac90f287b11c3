package agent

import (
	"maps"
	"slices"
	"testing"

	"replab.dev/internal/agent/part"
	"replab.dev/internal/metrics"
	"replab.dev/internal/metrics/metricstest"
	galera "replab.dev/internal/topology/galera/agent"
	patroni "replab.dev/internal/topology/patroni/agent"
	"replab.dev/internal/wire"
)

// all are the metrics of every agent and of all families.
var all = slices.Concat(families(), galera.Families(), patroni.Families())

func TestMetricsTellWhatIsKnown(t *testing.T) {
	r := metrics.New(metrics.Collector{Families: all, Read: func(tell metrics.Tell) {
		tell(part.Up, 1)
		tell(part.Role, 1, "primary")
		tell(holdsFamily, 0)
		tell(leaseFamily, 1)
		tellResources(tell, wire.Resources{CPUMicroseconds: 2_500_000, ResidentBytes: 7, ReadBytes: 8, WrittenBytes: 9, NetworkReceivedBytes: 10, NetworkSentBytes: 11})
		tellLinks(tell, wire.LinkCounts{Packets: 12, Late: 1, Delays: make([]wire.DelayCounts, 1)})
		galera.Measure(tell, wire.GroupState{NodeHistory: wire.NodeHistory{Leader: "b"}, View: &wire.GroupView{Primary: true, Servers: []string{"x", "y"}, Position: wire.GroupPosition{Sequence: 77}}})
		patroni.Measure(tell, wire.ManagerState{Answers: true, Holds: true, Timeline: 4, Written: 1000})
	}})
	metricstest.Documented(t, "agent", all, r)
	for family, want := range map[string]map[string]float64{
		"replab_agent_server_cpu_seconds_total":    {"": 2.5},
		"replab_agent_network_receive_bytes_total": {"": 10},
		"replab_agent_link_late_packets_total":     {"": 1},
		"replab_agent_group_writer":                {"b": 1},
		"replab_agent_group_members":               {"": 2},
		"replab_agent_group_transactions_total":    {"": 77},
		"replab_agent_manager_timeline":            {"": 4},
		"replab_agent_manager_log_bytes_total":     {"written": 1000},
		"replab_agent_manager_streaming":           {"": 0},
	} {
		if got := metricstest.Values(t, r, family); !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", family, got, want)
		}
	}
}

// TestMetricsAreSilentOfWhatIsNotKnown: a server that does not answer has no position, and an agent without links counts no packets.
func TestMetricsAreSilentOfWhatIsNotKnown(t *testing.T) {
	r := metrics.New(metrics.Collector{Families: all, Read: func(tell metrics.Tell) {
		tellLinks(tell, wire.LinkCounts{})
		galera.Measure(tell, wire.GroupState{})
		patroni.Measure(tell, wire.ManagerState{})
	}})
	for _, f := range metricstest.Gathered(t, r) {
		if slices.Contains([]string{"replab_agent_manager_timeline", "replab_agent_manager_log_bytes_total", delayedFamily.Name, "replab_agent_group_members"}, f.Name) {
			t.Errorf("%s is told of what is not known", f.Name)
		}
	}
}
