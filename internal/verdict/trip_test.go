package verdict

import (
	"strings"
	"testing"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/wire"
)

// chosenApart has three nodes, of which db-1 is 20 ms and db-2 40 ms from db-0. Patroni chooses the standby that a commit waits for.
func chosenApart(e *Evidence) {
	e.CommitWaits, e.StandbysChosen = 1, true
	t := &e.Spec.Topology
	t.Nodes, e.Nodes = 3, []string{"db-0", "db-1", "db-2"}
	t.Zones = append(t.Zones, v1alpha1.Zone{Name: "far", Nodes: []int32{2}})
	t.Links = append(t.Links, v1alpha1.Link{From: "here", To: "far", RoundTripMilliseconds: 40})
	r := e.Distance.RoundTrips[0]
	r.To, r.RequestedMicroseconds = "db-2", 40_000
	r.Before = &v1alpha1.RoundTripFigures{Samples: 50, P50Microseconds: 40_400}
	r.After = r.Before
	e.Distance.RoundTrips = append(e.Distance.RoundTrips, r)
	e.Recorder.Stages[0].StartedAt = atPtr(0)
}

func waitedFor(e *Evidence, from, to int64, nodes ...string) {
	n := &e.Recorder.Commits.Nodes[0]
	n.StandbySpans = append(n.StandbySpans, wire.StandbySpan{From: at(from), To: at(to), Nodes: nodes})
}

func TestTripToTheChosenStandby(t *testing.T) {
	const unknown = "which standbys commits waited for in it is not known"
	for name, c := range map[string]struct {
		change func(*Evidence)
		want   int64
		why    string
	}{
		"the near one":                   {func(e *Evidence) { waitedFor(e, -100, 60_100, "db-1") }, 20_400, ""},
		"the far one":                    {func(e *Evidence) { waitedFor(e, -100, 60_100, "db-2") }, 40_400, ""},
		"nobody knows":                   {func(*Evidence) {}, 0, unknown},
		"nobody knows of the end":        {func(e *Evidence) { waitedFor(e, -100, 59_900, "db-1") }, 0, unknown},
		"nobody knows of the beginning":  {func(e *Evidence) { waitedFor(e, 100, 60_100, "db-1") }, 0, unknown},
		"nobody knows of some time":      {func(e *Evidence) { waitedFor(e, -100, 30_000, "db-1"); waitedFor(e, 31_000, 60_100, "db-1") }, 0, unknown},
		"one that is no node":            {func(e *Evidence) { waitedFor(e, -100, 60_100, "other") }, 0, unknown},
		"another one in the midst of it": {func(e *Evidence) { waitedFor(e, -100, 30_000, "db-1"); waitedFor(e, 29_900, 60_100, "db-2") }, 0, "commits waited for standbys at different distances in it"},
		"another one before it":          {func(e *Evidence) { waitedFor(e, -900, -100, "db-1"); waitedFor(e, -200, 60_100, "db-2") }, 40_400, ""},
		"both":                           {func(e *Evidence) { e.CommitWaits = 2 }, 40_400, ""},
		"any of a quorum":                {func(e *Evidence) { e.StandbysChosen = false }, 20_400, ""},
		"another one as far away": {func(e *Evidence) {
			e.Spec.Topology.Links[1].RoundTripMilliseconds = 20
			e.Distance.RoundTrips[1] = e.Distance.RoundTrips[0]
			e.Distance.RoundTrips[1].To = "db-2"
		}, 20_400, ""},
		"one beside the primary": {func(e *Evidence) {
			e.Spec.Topology.Links, e.Distance.RoundTrips = e.Spec.Topology.Links[1:], e.Distance.RoundTrips[1:]
			waitedFor(e, -100, 60_100, "db-1")
		}, 0, "commits waited for no node at a distance in it"},
	} {
		t.Run(name, func(t *testing.T) {
			s := judgedApart(func(e *Evidence) { chosenApart(e); c.change(e) })
			d := s.Load.Stages[0].Distance
			if (d != nil) != (c.why == "") || d != nil && d.RoundTripMicroseconds != c.want {
				t.Errorf("%+v, want %d µs: %q", d, c.want, s.Reasons)
			}
			if c.why != "" && !strings.Contains(strings.Join(s.Reasons, " "), "stage steady is not held against the distance: "+c.why) {
				t.Errorf("%q, want %q", s.Reasons, c.why)
			}
		})
	}
}

func TestMeasuredTrip(t *testing.T) {
	figures := func(p50 int64) *v1alpha1.RoundTripFigures { return &v1alpha1.RoundTripFigures{P50Microseconds: p50} }
	for name, c := range map[string]struct {
		base                   v1alpha1.DistanceBase
		before, after, without *v1alpha1.RoundTripFigures
		want                   int64
	}{
		"beside reads":                     {v1alpha1.BaseFromReads, figures(20_400), figures(20_600), figures(300), 20_400},
		"shorter after the load":           {v1alpha1.BaseFromReads, figures(20_400), figures(20_100), nil, 20_100},
		"not measured after the load":      {v1alpha1.BaseFromReads, figures(20_400), nil, nil, 20_400},
		"not measured":                     {v1alpha1.BaseFromReads, nil, nil, nil, 20_000},
		"beside a stage without distance":  {v1alpha1.BaseFromStage, figures(20_400), figures(20_600), figures(300), 20_100},
		"beside a stage, and not measured": {v1alpha1.BaseFromStage, figures(20_400), figures(20_600), nil, 20_000},
		"beside a baseline":                {v1alpha1.BaseFromBaseline, figures(20_400), figures(20_600), nil, 20_000},
		"beside a baseline, and too short": {v1alpha1.BaseFromBaseline, figures(19_500), figures(20_600), nil, 19_500},
	} {
		e := farApart()
		r := &e.Distance.RoundTrips[0]
		r.Before, r.After, r.WithoutDistance = c.before, c.after, c.without
		if got := measuredTrip(e, c.base)(1, 0); got != c.want {
			t.Errorf("%s: %d µs, want %d", name, got, c.want)
		}
	}
}
