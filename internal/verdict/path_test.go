package verdict

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
	"replab.dev/internal/kube"
	"replab.dev/internal/provenance"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/evidencetest"
	"replab.dev/internal/wire"
)

func TestAnAppThatEndsOrBeginsInTheMidstOfTheLoadIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		component      string
		started, ended int64 // milliseconds of the load; 0 is not known
		want           string
	}{
		"an app that was ended":         {kube.ComponentSocial, 30_000, 28_000, "Container c of pod p ended with exit code 137 at 2026-01-01T12:00:28Z and began again at 2026-01-01T12:00:30Z during the load"},
		"a proxy in another's place":    {kube.ComponentProxy, 1_000, 0, "Container c of pod p began at 2026-01-01T12:00:01Z during the load"},
		"an app that is down":           {kube.ComponentSocial, 0, 28_000, "Container c of pod p ended with exit code 137 at 2026-01-01T12:00:28Z during the load"},
		"an app that was back too late": {kube.ComponentSocial, 61_000, 28_000, "ended with exit code 137 at 2026-01-01T12:00:28Z during the load"},
		"an app from before the load":   {kube.ComponentSocial, -5_000, -6_000, ""},
		"an app that began after it":    {kube.ComponentSocial, 62_000, 61_000, ""},
		"an app of which nobody knows":  {kube.ComponentSocial, 0, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			e := evidencetest.Sound()
			e.Provenance.Containers = []provenance.Container{interrupted(e, c.component, c.started, c.ended)}
			s := v1alpha1.ReplicationExperimentStatus{}
			Judge(e, &s)
			said := strings.Join(allSaid(s), "\n")
			if s.Verdict != v1alpha1.VerdictPassed || c.want == "" && strings.Contains(said, "during the load, without a fault") || !strings.Contains(said, c.want) {
				t.Errorf("%s: %s", s.Verdict, said)
			}
		})
	}
}

func interrupted(e evidence.Run, component string, started, ended int64) provenance.Container {
	at := func(ms int64) *metav1.Time {
		if ms == 0 {
			return nil
		}
		return &metav1.Time{Time: e.Recorder.LoadStartedAt.Add(time.Duration(ms) * time.Millisecond)}
	}
	c := provenance.Container{Pod: "p", Name: "c", Component: component, StartedAt: at(started), EndedAt: at(ended)}
	if ended != 0 {
		c.ExitCode = ptr.To[int32](137)
	}
	return c
}

// Whoever waits for an app that was ended sees an outage, and none of the databases'. What is good in spite of it is good.
func TestAGoalIsNotMissedByAnAppThatWasEnded(t *testing.T) {
	for metric, c := range map[v1alpha1.Metric]struct {
		goal v1alpha1.Goal
		want metav1.ConditionStatus
	}{
		"outageMilliseconds": {v1alpha1.Goal{Max: ptr.To[int64](1)}, metav1.ConditionUnknown},
		"failedRequests":     {v1alpha1.Goal{Max: ptr.To[int64](9)}, metav1.ConditionUnknown},
		"rejectedWrites":     {v1alpha1.Goal{Max: ptr.To[int64](4)}, metav1.ConditionTrue},
		"requestsPerSecond":  {v1alpha1.Goal{Min: ptr.To[int64](1_000_000)}, metav1.ConditionUnknown},
		"p99Microseconds":    {v1alpha1.Goal{Max: ptr.To[int64](1)}, metav1.ConditionUnknown},
		"ghostWrites":        {v1alpha1.Goal{Max: ptr.To[int64](0)}, metav1.ConditionFalse},
	} {
		t.Run(string(metric), func(t *testing.T) {
			c.goal.Metric = metric
			e := evidencetest.Sound()
			e.Spec.Goals = []v1alpha1.Goal{c.goal}
			for _, restarted := range []bool{false, true} {
				want := c.want
				if restarted {
					e.Provenance.Containers = []provenance.Container{interrupted(e, kube.ComponentSocial, 30_000, 28_000)}
				} else if want == metav1.ConditionUnknown {
					want = metav1.ConditionFalse
				}
				s := v1alpha1.ReplicationExperimentStatus{}
				Judge(e, &s)
				if s.Goals[0].Met != want {
					t.Errorf("restarted %v: met %s, measured %v, want %s: %s", restarted, s.Goals[0].Met, text(s.Goals[0].Measured), want, strings.Join(allSaid(s), "\n"))
				}
				if unknown := restarted && want == metav1.ConditionUnknown; unknown && !strings.Contains(strings.Join(allSaid(s), "\n"), "the app or a proxy was away for a part of the load") {
					t.Errorf("it is not said why: %s", strings.Join(allSaid(s), "\n"))
				}
			}
		})
	}
}

func TestAGoalIsNotMetByAnAppThatWasEnded(t *testing.T) {
	for metric, c := range map[v1alpha1.Metric]struct {
		goal               v1alpha1.Goal
		sound, interrupted metav1.ConditionStatus
	}{
		"outageMilliseconds": {v1alpha1.Goal{Min: ptr.To[int64](1500)}, metav1.ConditionTrue, metav1.ConditionUnknown},
		"failedRequests":     {v1alpha1.Goal{Min: ptr.To[int64](5)}, metav1.ConditionTrue, metav1.ConditionUnknown},
		"rejectedWrites":     {v1alpha1.Goal{Min: ptr.To[int64](5)}, metav1.ConditionFalse, metav1.ConditionFalse},
		"requestsPerSecond":  {v1alpha1.Goal{Max: ptr.To[int64](1_000_000)}, metav1.ConditionTrue, metav1.ConditionUnknown},
		"p99Microseconds":    {v1alpha1.Goal{Min: ptr.To[int64](10)}, metav1.ConditionTrue, metav1.ConditionUnknown},
	} {
		c.goal.Metric = metric
		for restarted, want := range map[bool]metav1.ConditionStatus{false: c.sound, true: c.interrupted} {
			s := judged(func(e *evidence.Run) {
				e.Spec.Goals = []v1alpha1.Goal{c.goal}
				if restarted {
					e.Provenance.Containers = []provenance.Container{interrupted(*e, kube.ComponentSocial, 32_000, 30_000)}
				}
			})
			if s.Goals[0].Met != want {
				t.Errorf("%s, restarted %v: met %s, want %s: %q", metric, restarted, s.Goals[0].Met, want, s.Reasons)
			}
		}
	}
}

func TestFiguresThroughAnAppThatWasEndedHaveOneBound(t *testing.T) {
	s := judged(func(e *evidence.Run) {
		e.Provenance.Containers = []provenance.Container{interrupted(*e, kube.ComponentProxy, 32_000, 30_000)}
		e.Recorder.Load.Failures, e.Recorder.Stages[0].Latency = 0, &wire.Latency{P99Microseconds: 9}
	})
	for path, want := range map[string]string{
		"load.requestsPerSecondMilli": "at least", "load.requestsPerSecond": "at least", "load.stages[steady].requestsPerSecond": "at least",
		"load.latency.meanMicroseconds": "at most", "load.stages[steady].latency.p99Microseconds": "at most", "outageMilliseconds": "at most", "ghostWrites": "",
	} {
		if got := figure.Read(&s, path).Bound(); got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
}
