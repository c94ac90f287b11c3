package distance

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/test/experiment"
)

var want = Want{Others: 1, LeastOfBoundPermille: 850}

// kept is a run of three nodes, of which the first is 20 ms from the others, as it is when all went well.
func kept(t *testing.T) *v1alpha1.ReplicationExperiment {
	t.Helper()
	x := experiment.Load(t, "semisync-distance")
	trip := func(from, to string) v1alpha1.RoundTripStatus {
		there := &v1alpha1.RoundTripFigures{P50Microseconds: 20_300}
		return v1alpha1.RoundTripStatus{
			From: x.Name + from, To: x.Name + to, RequestedMicroseconds: 20_000, Before: there, WithoutDistance: &v1alpha1.RoundTripFigures{P50Microseconds: 90}, After: there,
		}
	}
	now := metav1.NowMicro()
	d := &v1alpha1.DistanceStatus{RoundTrips: []v1alpha1.RoundTripStatus{trip("-db-0", "-db-1"), trip("-db-0", "-db-2")}, RemovedTime: &now}
	for _, name := range []string{"-db-0", "-db-1", "-db-2"} {
		d.Nodes = append(d.Nodes, v1alpha1.LinkedNodeStatus{Name: x.Name + name, LinkedTime: &now, LinkCounts: v1alpha1.LinkCounts{
			DelayedPackets: ptr.To[int64](1000), DroppedPackets: new(int64), LatePackets: ptr.To[int64](3), LatestMicroseconds: ptr.To[int64](1500),
		}})
	}
	load := &v1alpha1.LoadStatus{}
	for _, asked := range x.Spec.Load.Stages {
		stage := v1alpha1.StageStatus{Name: asked.Name}
		if !asked.Discard {
			stage.Distance = &v1alpha1.StageDistance{
				RoundTripMicroseconds: 20_000, WritesPermille: 1000, BaseMicroseconds: 900, BaseFrom: v1alpha1.BaseFromStage, OfBoundPermille: 990,
			}
		}
		load.Stages = append(load.Stages, stage)
	}
	x.Status = v1alpha1.ReplicationExperimentStatus{
		Verdict: v1alpha1.VerdictPassed, Reasons: []string{"The goal was met."}, Distance: d, Load: load,
		Goals: []v1alpha1.GoalStatus{{Met: metav1.ConditionTrue}}, Rest: &v1alpha1.RestStatus{AtRest: metav1.ConditionTrue},
	}
	return x
}

// stage has a delay of 10 ms, and packets that are late.
func stage(name string, lateMicroseconds int64) v1alpha1.LinkedStageStatus {
	return v1alpha1.LinkedStageStatus{Name: name, DelayedPackets: 1000, MeanDelayMicroseconds: ptr.To[int64](10_000), MeanLateMicroseconds: &lateMicroseconds}
}

// late makes a run Inconclusive for packets of one node.
func late(x *v1alpha1.ReplicationExperiment) {
	n := &x.Status.Distance.Nodes[1]
	n.Stages = []v1alpha1.LinkedStageStatus{stage("leave", 2000), stage("many", 1001)}
	n.Stages[0].Discarded = true
	x.Status.Verdict, x.Status.Reasons = v1alpha1.VerdictInconclusive, []string{"Stage many: packets to " + n.Name + " were late by 501 µs on average, and so on."}
}

// longer makes the round trip to the node of late too long after the load.
func longer(x *v1alpha1.ReplicationExperiment, microseconds int64) {
	s := &x.Status
	r := &s.Distance.RoundTrips[0]
	r.After = &v1alpha1.RoundTripFigures{P50Microseconds: microseconds}
	s.Verdict = v1alpha1.VerdictInconclusive
	s.Reasons = append(s.Reasons, fmt.Sprintf("The round trip from %s to %s was %d µs after the load, instead of 20000 µs.", r.From, r.To, microseconds))
}

func TestProblems(t *testing.T) {
	type run = v1alpha1.ReplicationExperiment
	last := func(x *run) *v1alpha1.StageDistance {
		return x.Status.Load.Stages[len(x.Status.Load.Stages)-1].Distance
	}
	for name, c := range map[string]struct {
		change func(*run)
		says   string // "" where nothing is wrong
	}{
		"as it must be":     {func(*run) {}, ""},
		"packets came late": {func(x *run) { late(x) }, ""},
		"a longer round trip where packets came late": {func(x *run) {
			late(x)
			longer(x, 21_900)
		}, ""},
		"a round trip longer than packets were late": {func(x *run) {
			late(x)
			longer(x, 22_100)
		}, "22100 µs after it"},
		"a longer round trip, and no late packet": {func(x *run) { longer(x, 21_900) }, "21900 µs after it"},
		"slow where packets came late":            {func(x *run) { late(x); last(x).OfBoundPermille = 400 }, ""},
		"no distance":                             {func(x *run) { x.Status.Distance = nil }, "The distance is <nil>"},
		"packets dropped":                         {func(x *run) { x.Status.Distance.Nodes[0].DroppedPackets = ptr.To[int64](1) }, "links of semisync-distance-db-0"},
		"packets not counted":                     {func(x *run) { x.Status.Distance.Nodes[2].LatePackets = nil }, "links of semisync-distance-db-2"},
		"links never set":                         {func(x *run) { x.Status.Distance.Nodes[1].LinkedTime = nil }, "db-1 were not set"},
		"links that stand":                        {func(x *run) { x.Status.Distance.RemovedTime = nil }, "ended at <nil>"},
		"a link that nobody measured":             {func(x *run) { x.Status.Distance.RoundTrips = x.Status.Distance.RoundTrips[:1] }, "from semisync-distance-db-0 to semisync-distance-db-2 was not measured"},
		"another link twice":                      {func(x *run) { x.Status.Distance.RoundTrips[1] = x.Status.Distance.RoundTrips[0] }, "db-2 was not measured"},
		"an app whose link nobody measured":       {func(x *run) { x.Spec.App.Zone = "there" }, "from semisync-distance-db-0 to semisync-distance-social- was not measured"},
		"a link that is too short": {func(x *run) {
			x.Status.Distance.RoundTrips[1].After = &v1alpha1.RoundTripFigures{P50Microseconds: 18_900}
		}, "and is 20300 µs before the load, 90 µs then without distance, 18900 µs after it"},
		"a link that is too long": {func(x *run) {
			x.Status.Distance.RoundTrips[0].Before = &v1alpha1.RoundTripFigures{P50Microseconds: 21_100}
		}, "is 21100 µs before"},
		"links in the stage without": {func(x *run) { x.Status.Distance.RoundTrips[0].WithoutDistance = x.Status.Distance.RoundTrips[0].After }, "20300 µs then without distance"},
		"another link was asked for": {func(x *run) { x.Status.Distance.RoundTrips[0].RequestedMicroseconds = 10_000 }, "is to be 20000 µs"},
		"Inconclusive for something else": {func(x *run) {
			late(x)
			x.Status.Reasons = []string{"The settings are not known."}
		}, "not for late packets alone"},
		"Inconclusive for something before it": {func(x *run) { late(x); x.Status.Reasons = append([]string{"k6 sent more."}, x.Status.Reasons...) }, "not for late packets alone"},
		"Inconclusive without a late packet": {func(x *run) {
			late(x)
			x.Status.Distance.Nodes[1].Stages = nil
		}, "not for late packets alone"},
		"as late as may be": {func(x *run) {
			late(x)
			x.Status.Distance.Nodes[1].Stages[1] = stage("many", 500)
		}, "not for late packets alone"},
		"5% of a long delay": {func(x *run) {
			late(x)
			s := stage("many", 2500)
			s.MeanDelayMicroseconds = ptr.To[int64](50_000)
			x.Status.Distance.Nodes[1].Stages[1] = s
		}, "not for late packets alone"},
		"one packet as late as by a fault": {func(x *run) {
			late(x)
			x.Status.Distance.Nodes[1].Stages[1] = stage("many", 0)
			x.Status.Distance.Nodes[1].Stages[1].HeldUpPackets = 1
		}, ""},
		"Inconclusive for another stage":                            {func(x *run) { late(x); x.Status.Distance.Nodes[1].Stages[1].Name = "few" }, "not for late packets alone"},
		"Inconclusive for another node":                             {func(x *run) { late(x); x.Status.Distance.Nodes[1].Name += "0" }, "not for late packets alone"},
		"late, and at another distance in part":                     {func(x *run) { late(x); x.Status.Distance.Nodes[0].Problem = v1alpha1.LinkNotInStage }, "links of semisync-distance-db-0"},
		"late, and a goal unknown":                                  {func(x *run) { late(x); x.Status.Reasons = append(x.Status.Reasons, "Goal p99 is unknown.") }, "not for late packets alone"},
		"late, and another writer":                                  {func(x *run) { late(x); x.Status.Failover = &v1alpha1.FailoverStatus{} }, "not for late packets alone"},
		"failed":                                                    {func(x *run) { x.Status.Verdict = v1alpha1.VerdictFailed }, "The verdict is Failed"},
		"quicker than its distance":                                 {func(x *run) { last(x).OfBoundPermille = 1051 }, "Stage many"},
		"slow, and passed":                                          {func(x *run) { last(x).OfBoundPermille = 849 }, "Stage many"},
		"a bound by the reads":                                      {func(x *run) { last(x).BaseFrom = v1alpha1.BaseFromReads }, "Stage many"},
		"a bound by another trip":                                   {func(x *run) { last(x).RoundTripMicroseconds = 10_000 }, "Stage many"},
		"a stage without a bound":                                   {func(x *run) { x.Status.Load.Stages[3].Distance = nil }, "Stage few is not compared"},
		"a stage without a bound, in which packets came late":       {func(x *run) { late(x); x.Status.Load.Stages[4].Distance = nil }, ""},
		"a stage without a bound, and packets came late in another": {func(x *run) { late(x); x.Status.Load.Stages[3].Distance = nil }, "Stage few is not compared"},
		"a stage without figures":                                   {func(x *run) { x.Status.Load.Stages = x.Status.Load.Stages[:4] }, "Of stage many there are no figures"},
		"a stage in which links were set has a bound":               {func(x *run) { x.Status.Load.Stages[2].Distance = last(x) }, "Stage leave, which is not at a distance"},
		"nothing but what is discarded":                             {func(x *run) { x.Spec.Load.Stages = x.Spec.Load.Stages[:3] }, "No stage is compared"},
	} {
		t.Run(name, func(t *testing.T) {
			x := kept(t)
			c.change(x)
			found := strings.Join(Problems(x, want), "\n")
			if (found == "") != (c.says == "") || !strings.Contains(found, c.says) {
				t.Errorf("found %q, want %q", found, c.says)
			}
		})
	}
}

// TestANoisyStageWithoutDistance: what it says a request takes may be too long by all of it.
func TestANoisyStageWithoutDistance(t *testing.T) {
	for ofBound, bad := range map[int64]bool{1100: false, 1101: true} {
		x := kept(t)
		d := x.Status.Load.Stages[4].Distance
		d.BaseMicroseconds, d.OfBoundPermille = 2000, ofBound
		if found := Problems(x, want); (len(found) > 0) != bad {
			t.Errorf("%d permille of a bound with 2 ms of 20: %q", ofBound, found)
		}
	}
}
