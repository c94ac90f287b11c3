package verdict

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
	"replab.dev/internal/provenance"
	"replab.dev/internal/topology"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/evidencetest"
	"replab.dev/internal/wire"
)

// serverEnded has the server of a node end, and begin again, in milliseconds of the load.
func serverEnded(pod string, ended, started int64) func(*evidence.Run) {
	return func(e *evidence.Run) {
		c := interrupted(*e, kube.ComponentNode, started, ended)
		c.Pod, c.Name = pod, "server"
		e.Provenance.Containers = append(e.Provenance.Containers, c)
	}
}

// faulted has the fault of sound be another one, at 10 s.
func faulted(pod string, f v1alpha1.Fault) func(*evidence.Run) {
	return func(e *evidence.Run) {
		f.Name = "crash"
		e.Spec.Faults = []v1alpha1.Fault{f}
		e.Faults[0].Pod, e.Faults[0].InjectedTime = pod, evidencetest.AtPtr(10_005)
		e.Recorder.Acknowledgements = evidencetest.AcknowledgedAt(9_950)
		if f.HoldSeconds > 0 {
			e.Faults[0].ReleasedTime = evidencetest.AtPtr(10_005 + f.HoldSeconds*1000)
		}
		e.Recorder.Clocks = append(e.Recorder.Clocks, evidencetest.Clock("db-1", 0, 0))
	}
}

func TestAServerThatEndsWithoutAFaultIsInconclusive(t *testing.T) {
	kill, pause := v1alpha1.Fault{Action: v1alpha1.ActionKill}, v1alpha1.Fault{Action: v1alpha1.ActionPause}
	held := v1alpha1.Fault{Action: v1alpha1.ActionKill, HoldSeconds: 30}
	cut := v1alpha1.Fault{Action: v1alpha1.ActionPartition, PartitionFrom: v1alpha1.PartitionPeers, HoldSeconds: 20}
	none := func(e *evidence.Run) { e.Faults, e.Spec.Faults = nil, nil }
	away := func(node string, left int64) func(*evidence.Run) {
		return func(e *evidence.Run) {
			e.State.Absences = append(e.State.Absences, topology.Absence{Node: node, Clock: "director", Absence: wire.Absence{LeftAt: evidencetest.At(left)}})
		}
	}
	const inconclusive, note, nothing = "Inconclusive", "note", "nothing"
	for name, c := range map[string]struct {
		fault, also    func(*evidence.Run)
		pod            string
		ended, started int64
		want           string
	}{
		"without any fault":             {none, nil, "db-1", 50_000, 51_000, inconclusive},
		"that is down":                  {none, nil, "db-1", 50_000, 0, inconclusive},
		"before the load":               {none, nil, "db-1", -9_000, -8_000, nothing},
		"after the load":                {none, nil, "db-1", 61_000, 62_000, nothing},
		"before the only fault":         {faulted("db-1", kill), nil, "db-1", 5_000, 6_000, inconclusive},
		"long after a fault elsewhere":  {faulted("db-0", pause), nil, "db-1", 50_000, 51_000, inconclusive},
		"long after a fault of its own": {faulted("db-1", pause), nil, "db-1", 50_000, 51_000, inconclusive},
		"that a fault killed":           {faulted("db-1", kill), nil, "db-1", 10_000, 12_000, nothing},
		"that a fault killed, whose end the kubelet has forgotten": {faulted("db-1", kill), nil, "db-1", 0, 12_000, nothing},
		"that began without a fault, and its end is forgotten":     {none, nil, "db-1", 0, 50_000, inconclusive},
		"that began late after its fault":                          {faulted("db-1", kill), nil, "db-1", 10_000, 55_000, nothing},
		"that ended again while it was held":                       {faulted("db-1", held), nil, "db-1", 39_000, 40_000, nothing},
		"that was to be held until the audit":                      {faulted("db-1", v1alpha1.Fault{Action: v1alpha1.ActionKill, HoldSeconds: -1}), nil, "db-1", 58_000, 0, nothing},
		"fenced by a partition":                                    {faulted("db-1", cut), nil, "db-1", 15_000, 17_000, nothing},
		"that cannot rejoin after its fault":                       {faulted("db-1", kill), away("db-1", 10_500), "db-1", 57_000, 58_000, nothing},
		"soon after a fault elsewhere":                             {faulted("db-0", cut), nil, "db-1", 32_000, 34_000, note},
		"away since a fault elsewhere":                             {faulted("db-0", kill), away("db-1", 12_000), "db-1", 57_000, 58_000, note},
		"away since long after a fault elsewhere":                  {faulted("db-0", kill), away("db-1", 49_000), "db-1", 57_000, 58_000, inconclusive},
		"that a fault of an unknown time may have":                 {faulted("db-1", kill), func(e *evidence.Run) { e.Recorder.Clocks = nil }, "db-1", 50_000, 51_000, nothing},
	} {
		t.Run(name, func(t *testing.T) {
			s := judged(func(e *evidence.Run) {
				e.Spec.Goals = nil
				c.fault(e)
				serverEnded(c.pod, c.ended, c.started)(e)
				if c.also != nil {
					c.also(e)
				}
			})
			reason, remark := strings.Join(s.Reasons, "\n"), strings.Join(s.Notes, "\n")
			got := nothing
			switch {
			case s.Verdict == v1alpha1.VerdictInconclusive && strings.Contains(reason, "Container server of pod db-1") && strings.Contains(reason, "without a fault"):
				got = inconclusive
			case strings.Contains(remark, "Container server of pod db-1"):
				got = note
			}
			if got != c.want {
				t.Errorf("%s, want %s: %s: %s\n%s", got, c.want, s.Verdict, reason, remark)
			}
		})
	}
}

// replaced has a pod created, its server begin and perhaps end again, in milliseconds of the load.
func replaced(pod string, created, ended, started int64) func(*evidence.Run) {
	return func(e *evidence.Run) {
		serverEnded(pod, ended, started)(e)
		last := &e.Provenance.Containers[len(e.Provenance.Containers)-1]
		last.PodCreatedAt = &metav1.Time{Time: evidencetest.At(created).Time}
		sidecar, load := *last, provenance.Container{Pod: "load-0", Component: kube.ComponentLoad, PodCreatedAt: &metav1.Time{Time: evidencetest.At(-5_000).Time}}
		sidecar.Name = "sidecar"
		e.Provenance.Containers = append(e.Provenance.Containers, sidecar, load)
	}
}

func TestAPodThatNoFaultReplacedIsInconclusive(t *testing.T) {
	deleted, kill := v1alpha1.Fault{Action: v1alpha1.ActionDeletePod}, v1alpha1.Fault{Action: v1alpha1.ActionKill}
	patient := v1alpha1.Fault{Action: v1alpha1.ActionDeletePod, GracePeriodSeconds: ptr.To[int64](120)}
	without := func(e *evidence.Run) { e.Faults, e.Spec.Faults = nil, nil }
	for name, c := range map[string]struct {
		fault, replaced func(*evidence.Run)
		want            int // times that it is said
	}{
		"without any fault": {without, replaced("db-1", 49_000, 0, 50_000), 1},
		"deleted so late that it is back after the load": {without, replaced("db-1", 69_000, 0, 70_000), 1},
		"whose server does not run":                      {without, replaced("db-1", 49_000, 0, 0), 1},
		"whose server ended and began again":             {without, replaced("db-1", 49_000, 51_000, 52_000), 1},
		"soon after a fault elsewhere":                   {faulted("db-0", deleted), replaced("db-1", 13_000, 0, 14_000), 1},
		"after its server was killed":                    {faulted("db-1", kill), replaced("db-1", 13_000, 0, 14_000), 1},
		"after a switchover away from it":                {faulted("db-1", v1alpha1.Fault{Action: v1alpha1.ActionSwitchover}), replaced("db-1", 13_000, 0, 14_000), 1},
		"that a fault deleted":                           {faulted("db-1", deleted), replaced("db-1", 13_000, 0, 14_000), 0},
		"long after a fault deleted it":                  {faulted("db-1", deleted), replaced("db-1", 380_000, 0, 381_000), 1},
		"after a long grace":                             {faulted("db-1", patient), replaced("db-1", 380_000, 0, 381_000), 0},
		"that a fault may have deleted":                  {func(e *evidence.Run) { faulted("db-1", deleted)(e); e.Faults[0].InjectedTime = nil }, replaced("db-1", 13_000, 0, 14_000), 0},
		"created before the load, by an API server that is a minute ahead": {without, func(e *evidence.Run) {
			replaced("db-1", -20_000, 0, -10_000)(e)
			for i := range e.Provenance.Containers {
				if at := e.Provenance.Containers[i].PodCreatedAt; at != nil {
					e.Provenance.Containers[i].PodCreatedAt = &metav1.Time{Time: at.Add(time.Minute)}
				}
			}
		}, 0},
		"created after the load's pods, before the first request": {without, replaced("db-1", -3_000, 0, -1_000), 1},
		"created before the load":                                 {without, replaced("db-1", -20_000, 0, -10_000), 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := judged(func(e *evidence.Run) {
				e.Spec.Goals = nil
				c.fault(e)
				c.replaced(e)
			})
			said := strings.Join(s.Reasons, "\n")
			if got := strings.Count(said, "Pod db-1 was replaced"); got != c.want || got > 0 && s.Verdict != v1alpha1.VerdictInconclusive {
				t.Errorf("%s, said %d times, want %d: %s", s.Verdict, got, c.want, said)
			}
			if more := said + strings.Join(s.Notes, "\n"); strings.Contains(more, "began in a new pod") {
				t.Errorf("said once more for its container: %s", more)
			}
		})
	}
}

func TestARestartInAReplacedPodIsSaidToo(t *testing.T) {
	s := judged(func(e *evidence.Run) {
		e.Faults, e.Spec.Faults = nil, nil
		replaced("db-1", 39_000, 51_000, 52_000)(e)
	})
	if said := strings.Join(s.Reasons, "\n"); !strings.Contains(said, "Container server of pod db-1 ended") {
		t.Error(said)
	}
}

func TestAnAppInANewPodIsANote(t *testing.T) {
	for name, c := range map[string]struct {
		created, started int64
		want             string
	}{
		"that is back in the load":  {49_000, 50_000, "Container server of pod social-1 began in a new pod at "},
		"that is back after it":     {40_000, 70_000, "Container server of pod social-1 replaced another at "},
		"that does not begin":       {40_000, 0, "Container server of pod social-1 replaced another at "},
		"that was created after it": {70_000, 71_000, ""},
		"that was back before it":   {-3_000, -1_000, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := judged(func(e *evidence.Run) {
				e.Faults, e.Spec.Faults = nil, nil
				replaced("social-1", c.created, 0, c.started)(e)
				for i := range e.Provenance.Containers {
					if c := &e.Provenance.Containers[i]; c.Pod == "social-1" {
						c.Component = kube.ComponentSocial
					}
				}
			})
			said := strings.Join(s.Notes, "\n")
			if strings.Contains(said, "pod social-1") != (c.want != "") || !strings.Contains(said, c.want) {
				t.Errorf("%s, want %q: %s", s.Verdict, c.want, said)
			}
		})
	}
}

func TestTimesOfContainersAreByTheirMachinesClock(t *testing.T) {
	for name, c := range map[string]struct {
		ended, aheadMilliseconds int64
		want                     v1alpha1.Verdict
		own                      []wire.Clock
	}{
		"in the load, by a clock that is behind":         {-10_000, -20_000, v1alpha1.VerdictInconclusive, nil},
		"before the load, by the clock of its own agent": {-10_000, -20_000, v1alpha1.VerdictPassed, []wire.Clock{evidencetest.Clock("db-9", 0, 0)}},
		"before the load, by a clock that is ahead":      {10_000, 20_000, v1alpha1.VerdictPassed, nil},
		"in the load, by a clock that is far ahead":      {70_000, 20_000, v1alpha1.VerdictInconclusive, nil},
		"after the load, by a clock that is well behind": {50_000, -20_000, v1alpha1.VerdictPassed, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := judged(func(e *evidence.Run) {
				e.Spec.Goals, e.Faults, e.Spec.Faults = nil, nil, nil
				e.State.Failovers = nil
				serverEnded("db-9", c.ended, 0)(e)
				e.Provenance.Containers[0].Machine = "far"
				e.Provenance.Containers = append([]provenance.Container{{Pod: "db-8", Machine: "far"}}, e.Provenance.Containers...) // in the order of their pods
				e.Recorder.Clocks = append(append(e.Recorder.Clocks, c.own...), evidencetest.Clock("db-8", c.aheadMilliseconds, c.aheadMilliseconds))
			})
			if ended := strings.Contains(strings.Join(s.Reasons, "\n"), "pod db-9 ended"); ended != (c.want == v1alpha1.VerdictInconclusive) {
				t.Errorf("%s, want %s: %q", s.Verdict, c.want, s.Reasons)
			}
		})
	}
}

func TestAManagerThatEndsIsANote(t *testing.T) {
	s := judged(func(e *evidence.Run) {
		c := interrupted(*e, kube.ComponentManager, 51_000, 50_000)
		c.Pod, c.Name = "director-0", "director"
		e.Provenance.Containers = append(e.Provenance.Containers, c)
	})
	if said := strings.Join(s.Notes, "\n"); s.Verdict != v1alpha1.VerdictPassed || !strings.Contains(said, "Container director of pod director-0 ended with exit code 137") {
		t.Errorf("%s: %s", s.Verdict, said)
	}
}

func TestAnAgentThatEndsIsNoServer(t *testing.T) {
	s := judged(func(e *evidence.Run) {
		serverEnded("db-1", 50_000, 51_000)(e)
		e.Provenance.Containers[0].Name = "agent"
	})
	if s.Verdict != v1alpha1.VerdictPassed {
		t.Errorf("%s: %q", s.Verdict, s.Reasons)
	}
}

func TestAFailoverIsOfTheFaultThatHitTheOldPrimary(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*evidence.Run)
		want   string
	}{
		"the old primary":                        {func(*evidence.Run) {}, "crash"},
		"another node":                           {faulted("db-1", v1alpha1.Fault{Action: v1alpha1.ActionPause}), ""},
		"the old primary, long before":           {func(e *evidence.Run) { late(e, "db-0") }, ""},
		"the old primary, and then another node": {func(e *evidence.Run) { besides(e, "db-1", "next", "next", 31_500) }, "crash"},
	} {
		s := judged(c.change)
		if s.Failover == nil || s.Failover.Fault != c.want {
			t.Errorf("%s: %+v, want fault %q", name, s.Failover, c.want)
		}
	}
}

// late has the failover come at 55 s, long after a fault at 10 s.
func late(e *evidence.Run, pod string) {
	faulted(pod, v1alpha1.Fault{Action: v1alpha1.ActionPause})(e)
	e.Recorder.Availability = evidencetest.Available(evidencetest.Hole{From: 55_000, To: 57_000, Node: "db-1", Errors: 4})
	e.State.Failovers[0].DetectedAt, e.State.Failovers[0].PromotedAt = evidencetest.At(56_000), evidencetest.AtPtr(56_500)
}
