package verdict

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/topology"
	"replab.dev/internal/wire"
)

// sound has a failover from 30,000 to 32,000 ms; its manager's clock is 10 ms ahead, or a little more or less.
func TestFailover(t *testing.T) {
	told := func(from, to string, detected, promoted int64) topology.Failover {
		return topology.Failover{Clock: "director", OldWriter: from, NewWriter: to, DetectedAt: at(detected), PromotedAt: atPtr(promoted)}
	}
	for name, c := range map[string]struct {
		change func(*Evidence)
		want   string // fault, nodes, outage; detection promotion routing, their uncertainty
	}{
		"phases on two clocks carry their uncertainty": {func(*Evidence) {}, "crash db-0 db-1 2000; 990 500 510 ±2000"},
		"without a clock of the manager only its own phase is told": {
			func(e *Evidence) { e.Witness.Clocks = e.Witness.Clocks[:1] }, "crash db-0 db-1 2000; absent 500 absent ±absent",
		},
		"none after which the same node went on": {func(e *Evidence) {
			e.Witness.Availability = available(hole{from: 30_000, to: 32_000, node: "db-0", errors: 9})
		}, "none"},
		"none without a fault":  {func(e *Evidence) { e.Faults = nil }, "none"},
		"none before the fault": {func(e *Evidence) { e.Faults[0].InjectedTime = atPtr(33_000) }, "none"},
		"the longest of several, though the manager tells of the other last": {func(e *Evidence) {
			e.Witness.Availability = available(hole{from: 30_000, to: 32_000, node: "db-1"}, hole{from: 50_000, to: 50_900, node: "db-0"})
			e.Faults = append(e.Faults, hit("back", "db-1", 50_001))
			e.State.Failovers = append(e.State.Failovers, told("db-1", "db-0", 50_300, 50_500))
		}, "crash db-0 db-1 2000; 990 500 510 ±2000"},
		"a later one that is longer": {func(e *Evidence) {
			e.Witness.Availability = available(hole{from: 30_000, to: 32_000, node: "db-1"}, hole{from: 50_000, to: 52_900, node: "db-0"})
			e.Faults = append(e.Faults, hit("back", "db-0", 50_001))
			e.State.Failovers = append(e.State.Failovers, told("db-1", "db-0", 50_310, 50_510))
		}, "back db-1 db-0 2900; 300 200 2400 ±2000"},
		"between two that serve for a while, the one that the manager tells of": {func(e *Evidence) {
			e.Witness.Availability = available(
				hole{from: 30_000, to: 30_500, node: "db-1"}, hole{from: 30_700, to: 32_900, node: "db-0"}, hole{from: 33_000, to: 33_100, node: "db-1"})
			e.State.Failovers = []topology.Failover{told("db-0", "db-1", 30_000, 30_250)}
			e.State.Failovers[0].Planned, e.State.Failovers[0].OldServes = true, true
		}, "crash db-0 db-1 500; absent 250 260 ±2000"},
		"the longest where one alone serves, though the manager tells of the other alone": {func(e *Evidence) {
			e.Witness.Availability = available(hole{from: 30_000, to: 32_000, node: "db-1"}, hole{from: 50_000, to: 50_900, node: "db-0"})
			e.State.Failovers = []topology.Failover{told("db-1", "db-0", 50_310, 50_510)}
		}, "crash db-0 db-1 2000; absent absent absent ±absent"},
		"phases of another failover are not its own": {func(e *Evidence) {
			e.State.Failovers = []topology.Failover{told("db-0", "db-1", 33_000, 33_500)}
		}, "crash db-0 db-1 2000; absent absent absent ±absent"},
		"nor are those of a failover to another node": {func(e *Evidence) {
			e.State.Failovers = []topology.Failover{told("db-0", "db-2", 31_000, 31_500)}
		}, "crash db-0 db-1 2000; absent absent absent ±absent"},
		"what was detected and promoted in one moment has no phase between": {func(e *Evidence) {
			e.State.Failovers[0].PromotedAt = &e.State.Failovers[0].DetectedAt
		}, "crash db-0 db-1 2000; 990 absent 1010 ±2000"},
		"of a group that had not given the old one up only the detection is known": {func(e *Evidence) {
			e.State.Failovers[0].Waits = true
		}, "crash db-0 db-1 2000; 990 absent absent ±2000"},
		"nor those of one that is under way": {func(e *Evidence) { e.State.Failovers[0].PromotedAt = nil }, "crash db-0 db-1 2000; absent absent absent ±absent"},
	} {
		t.Run(name, func(t *testing.T) {
			e, s := sound(), v1alpha1.ReplicationExperimentStatus{}
			e.Witness.Clocks = []wire.Clock{clock("db-0", 0, 0), clock("director", 8, 12)}
			c.change(&e)
			Judge(e, &s)
			got := "none"
			if f := s.Failover; f != nil {
				got = fmt.Sprintf("%s %s %s %v; %v %v %v ±%v", f.Fault, f.OldPrimary, f.NewPrimary, text(f.OutageMilliseconds),
					text(f.DetectionMilliseconds), text(f.PromotionMilliseconds), text(f.RoutingMilliseconds), text(f.PhaseUncertaintyMicroseconds))
			}
			if got != c.want {
				t.Errorf("failover %q, want %q", got, c.want)
			}
		})
	}
}

// The failover does not stand for the outage when something else took longer.
func TestALongerInterruptionThanTheFailoverIsTheOutage(t *testing.T) {
	e, s := sound(), v1alpha1.ReplicationExperimentStatus{}
	e.Witness.Availability = available(hole{from: 30_000, to: 30_700, node: "db-1"}, hole{from: 40_000, to: 42_400, node: "db-1"})
	e.Faults[0].Confirmed = metav1.ConditionTrue
	if Judge(e, &s); *s.Failover.OutageMilliseconds != 700 || *s.OutageMilliseconds != 2400 || *s.Faults[0].OutageMilliseconds != 2400 {
		t.Errorf("failover %+v, outage %v", s.Failover, text(s.OutageMilliseconds))
	}
}
