// Package followtest has a run as people see it, moment by moment, for the tests of what is shown.
package followtest

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/plugin/follow"
	"replab.dev/internal/wire"
)

// Start of the load.
var Start = time.Date(2026, 1, 1, 12, 0, 20, 0, time.UTC)

// Run is a run with a crash under load, from its creation to its verdict.
func Run() []follow.View {
	return []follow.View{
		at(0, "", nil),
		at(2*time.Second, "Deploying", pending(v1alpha1.ConditionDeployed, "1 of 3 nodes is ready")),
		at(12*time.Second, "Seeding", pending(v1alpha1.ConditionSeeded, "loading 10000 users")),
		silent(at(20*time.Second, "UnderLoad", pending(v1alpha1.ConditionFaultsInjected, "fault crash is planned for 20 s after the start of the load"))),
		live(at(22*time.Second, "UnderLoad", load()), 2),
		live(planned(at(39*time.Second, "UnderLoad", load()), v1alpha1.FaultPlanned, ""), 19),
		live(planned(at(42*time.Second, "UnderLoad", load()), v1alpha1.FaultConfirmed, "the server is gone"), 23),
		live(planned(at(51*time.Second, "UnderLoad", load()), v1alpha1.FaultReleased, ""), 31),
		planned(at(75*time.Second, "Auditing", pending(v1alpha1.ConditionAudited, "the audit is running")), v1alpha1.FaultReleased, ""),
		planned(at(84*time.Second, "Complete", pending("", "")), v1alpha1.FaultReleased, ""),
	}
}

func at(age time.Duration, phase string, c []metav1.Condition) follow.View {
	x := &v1alpha1.ReplicationExperiment{ObjectMeta: metav1.ObjectMeta{Name: "semisync", Namespace: "default", CreationTimestamp: metav1.NewTime(Start.Add(-20 * time.Second))}}
	x.Spec.Topology = v1alpha1.TopologySpec{Type: v1alpha1.TopologySemiSync, Engine: v1alpha1.EngineMySQL, Nodes: 3}
	x.Spec.Routing.Proxy = v1alpha1.ProxyHAProxy
	x.Spec.Load.Stages = []v1alpha1.Stage{
		{Name: "warmup", DurationSeconds: 5, Users: new(int64(4)), Discard: true}, {Name: "open", DurationSeconds: 45, RequestsPerSecond: 80},
	}
	x.Spec.Faults = []v1alpha1.Fault{{Name: "crash", AtSeconds: 20, Target: v1alpha1.TargetPrimary, Action: v1alpha1.ActionKill, HoldSeconds: 10}}
	x.Status.Phase, x.Status.Conditions = phase, c
	if age > 20*time.Second {
		x.Status.LoadStartTime = ptr.To(metav1.NewMicroTime(Start))
	}
	return follow.View{Experiment: x, Age: age}
}

// pending is a step that waits, those before it being behind.
func pending(step, message string) (all []metav1.Condition) {
	for _, s := range v1alpha1.Steps {
		if s == step {
			return append(all, metav1.Condition{Type: s, Status: metav1.ConditionFalse, Message: message})
		}
		all = append(all, metav1.Condition{Type: s, Status: metav1.ConditionTrue})
	}
	return all
}

func load() []metav1.Condition { return pending(v1alpha1.ConditionLoadFinished, "k6 is running") }

func planned(v follow.View, s v1alpha1.FaultState, evidence string) follow.View {
	f := v1alpha1.FaultStatus{Name: "crash", Fault: "crash", Pod: "semisync-db-0", State: s, Evidence: evidence}
	if s != v1alpha1.FaultPlanned {
		f.InjectedTime = ptr.To(metav1.NewMicroTime(Start.Add(20 * time.Second)))
	}
	if s == v1alpha1.FaultReleased {
		f.ReleasedTime = ptr.To(metav1.NewMicroTime(Start.Add(30 * time.Second)))
	}
	v.Experiment.Status.Faults = []v1alpha1.FaultStatus{f}
	return v
}

func silent(v follow.View) follow.View {
	v.Silent = "the recorder does not answer the API server"
	return v
}

// live has what the recorder tells so many seconds into the load: an outage of two seconds from the 20th on, after which another node writes.
func live(v follow.View, seconds int) follow.View {
	at := func(s int) *metav1.MicroTime {
		return ptr.To(metav1.NewMicroTime(Start.Add(time.Duration(s) * time.Second)))
	}
	l := &wire.RecorderLive{Nodes: []string{"semisync-db-0", "semisync-db-1", "semisync-db-2"}}
	l.Now, l.LoadStartedAt = at(seconds), at(0)
	l.Stages = []wire.LiveStage{{Name: "warmup", DurationSeconds: 5, StartedAt: at(0)}, {Name: "open", DurationSeconds: 45}}
	if seconds >= 5 {
		l.Stages[1].StartedAt = at(5)
	}
	for i := range seconds {
		s := wire.Second{At: *at(i), Requests: 80, P99Microseconds: ptr.To(int64(3000 + i*50)), LagMicroseconds: []int64{-1, int64(400 + i), 350}, Writer: "semisync-db-0"}
		switch {
		case i == 20 || i == 21:
			s = wire.Second{At: *at(i), Requests: 6, Failures: 6, LagMicroseconds: []int64{-1, -1, -1}}
		case i == 22:
			s.P99Microseconds, s.LowerBounds, s.Writer = ptr.To[int64](701000), []v1alpha1.Percentile{v1alpha1.P99}, "semisync-db-1"
		case i > 22:
			s.Writer = "semisync-db-1"
		}
		if i >= 22 { // what was primary is down, and lacks more and more; who writes has no lag
			s.LagMicroseconds = []int64{int64(i-21) * 1_000_000, -1, 350}
			l.FormerPrimaries = []string{"semisync-db-0"}
		}
		l.Recent = append(l.Recent, s)
	}
	v.Live = l
	return v
}
