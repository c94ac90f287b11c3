package story_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
	"replab.dev/internal/report/figures"
	"replab.dev/internal/report/reporttest"
	"replab.dev/internal/report/story"
	"replab.dev/internal/results"
)

// mayBeAnother has it open which time without an acknowledged write was the outage, as in documents that do not say when it began.
func mayBeAnother(s *v1alpha1.ReplicationExperimentStatus) { s.Faults[0].OutageStartTime = nil }

func TestTheHeadlineIsLossAndOutage(t *testing.T) {
	for want, change := range map[string]func(*results.Results){
		"No acknowledged write was lost, and the longest outage was 1.6 s, after crash at 20.0 s.":                       func(*results.Results) {},
		"3 of 1,300 acknowledged writes were lost, and the longest outage was 1.6 s, after crash at 20.0 s.":             func(r *results.Results) { r.Status.Writes.Lost = ptr.To[int64](3) },
		"1 of 1,300 acknowledged writes was lost, and the longest outage was 1.6 s, after crash at 20.0 s.":              func(r *results.Results) { r.Status.Writes.Lost = ptr.To[int64](1) },
		"Whether acknowledged writes were lost is unknown, and the longest outage was 1.6 s, after crash at 20.0 s.":     func(r *results.Results) { r.Status.Writes.Lost = nil },
		"No acknowledged write was lost, and the outage is unknown.":                                                     func(r *results.Results) { r.Status.OutageMilliseconds = nil },
		"No acknowledged write was lost, and the longest outage was 1.6 s.":                                              func(r *results.Results) { mayBeAnother(&r.Status) },
		"No acknowledged write was lost, and the longest outage was 2 s.":                                                func(r *results.Results) { r.Status.OutageMilliseconds = ptr.To[int64](2000) },
		"No acknowledged write was lost, and the longest time without an acknowledged write was 1.6 s.":                  func(r *results.Results) { r.Status.Faults = nil },
		"No acknowledged write was lost, and the longest outage was 1.6 s; not known to have been carried out: crash.":   func(r *results.Results) { r.Status.Faults[0].InjectedTime = nil },
		"No lost write was found, and the longest outage was 1.6 s, after crash at 20.0 s, but the run is inconclusive.": func(r *results.Results) { r.Status.Verdict = v1alpha1.VerdictInconclusive },
		"The number of lost writes is uncertain, and the longest outage is uncertain.": func(r *results.Results) {
			(*figure.Bounds)(&r.Status.Bounds).Unknown("writes.lost", "why")
			(*figure.Bounds)(&r.Status.Bounds).Unknown("outageMilliseconds", "why")
		},
		"Don't use the figures: a sum is wrong.": func(r *results.Results) {
			r.Status.Verdict, r.Status.Reasons = v1alpha1.VerdictInvalid, []string{"a sum is wrong."}
		},
		"Don't use the figures.": func(r *results.Results) { r.Status.Verdict, r.Status.Reasons = v1alpha1.VerdictInvalid, nil },
		"At least 3 acknowledged writes were lost, and the longest outage was 1.6 s, after crash at 20.0 s.": func(r *results.Results) {
			r.Status.Writes.Lost = ptr.To[int64](3)
			(*figure.Bounds)(&r.Status.Bounds).AtLeast("writes.lost", 3, "why")
		},
	} {
		r := reporttest.SemiSync(t)
		change(&r)
		if got := story.Headline(figures.Of(r)); got != want {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
}

// TestAFaultOfALoadWithoutAStartHasADate: seconds from no start would be a number that was not measured.
func TestAFaultOfALoadWithoutAStartHasADate(t *testing.T) {
	r := reporttest.SemiSync(t)
	r.Status.LoadStartTime, r.Recorder = nil, nil
	d := figures.Of(r)
	want := r.Status.Faults[0].InjectedTime.UTC().Format(time.RFC3339)
	if got := story.When(d, r.Status.Faults[0]); got != want {
		t.Errorf("it came at %q, want %q", got, want)
	}
	for _, table := range d.Tables() {
		if at := slices.Index(table.Head, "injected"); at >= 0 {
			if got := table.Rows[0][at].Words; got != want {
				t.Errorf("the table has %q, want %q", got, want)
			}
			return
		}
	}
	t.Error("no table has when a fault was injected")
}

func TestTheStoryOfAFault(t *testing.T) {
	crash := story.Fault{
		Name: "crash", At: "20.0 s", Did: "killed semisync-db-0, the primary",
		Events: []story.Event{{"0.90 s", "detected"}, {"1.40 s", "semisync-db-1 promoted"}, {"1.60 s", "first write again on semisync-db-1"}},
		Facts:  []string{"The longest time without an acknowledged write was 1.6 s."},
	}
	only := func(change func(*story.Fault)) story.Fault {
		f := crash
		change(&f)
		return f
	}
	for name, c := range map[string]struct {
		change func(*v1alpha1.ReplicationExperimentStatus)
		want   story.Fault
	}{
		"a failover": {func(*v1alpha1.ReplicationExperimentStatus) {}, crash},
		"a promotion at an unknown time": {
			func(s *v1alpha1.ReplicationExperimentStatus) { s.Failover.PromotionMilliseconds = nil },
			only(func(f *story.Fault) { f.Events = []story.Event{crash.Events[0], crash.Events[2]} }),
		},
		"a detection between two bounds": {
			func(s *v1alpha1.ReplicationExperimentStatus) {
				(*figure.Bounds)(&s.Bounds).Between("failover.detectionMilliseconds", 700, 900, "why")
			},
			only(func(f *story.Fault) {
				f.Events = []story.Event{{"about 0.90 s", "detected"}, {"about 1.40 s", "semisync-db-1 promoted"}, crash.Events[2]}
			}),
		},
		"an outage of at least so long": {
			func(s *v1alpha1.ReplicationExperimentStatus) {
				(*figure.Bounds)(&s.Bounds).AtLeast("failover.outageMilliseconds", 1600, "why")
			},
			only(func(f *story.Fault) {
				f.Events = []story.Event{crash.Events[0], crash.Events[1], {"at least 1.6 s", crash.Events[2].What}}
			}),
		},
		"an outage without a failover": {
			func(s *v1alpha1.ReplicationExperimentStatus) { s.Failover = nil },
			only(func(f *story.Fault) { f.Events = crash.Events[2:] }),
		},
		"an outage at an unknown time": {
			func(s *v1alpha1.ReplicationExperimentStatus) { s.Failover = nil; mayBeAnother(s) },
			only(func(f *story.Fault) { f.Events = nil }),
		},
		"an unknown outage": {
			func(s *v1alpha1.ReplicationExperimentStatus) { s.Failover, s.Faults[0].OutageMilliseconds = nil, nil },
			only(func(f *story.Fault) {
				f.Events, f.Facts = nil, []string{"Its outage is unknown: the availability probe was off."}
			}),
		},
		"what came of it": {
			func(s *v1alpha1.ReplicationExperimentStatus) {
				f := &s.Faults[0]
				f.RejoinMilliseconds, f.LossWindowMilliseconds, f.Resync = ptr.To[int64](17_069), ptr.To[int64](2961), &v1alpha1.ResyncStatus{Method: "Clone"}
				f.Confirmed, f.Evidence, f.Leak = "False", "it still ran.", "db-2 was reached"
			},
			only(func(f *story.Fault) {
				f.Facts = append([]string{f.Facts[0]}, "The first lost write was acknowledged 3 s before it.", "The node was back in its place 17 s after it could return, by Clone.",
					"Its effect was not confirmed: it still ran.", "A new pod was not cut off in time: db-2 was reached.")
			}),
		},
		"a fault that may have been injected": {
			func(s *v1alpha1.ReplicationExperimentStatus) {
				s.Faults[0].InjectedTime, s.Faults[0].State, s.Faults[0].Evidence = nil, v1alpha1.FaultUnconfirmed, "what became of it is not known"
			},
			only(func(f *story.Fault) {
				f.At, f.Events, f.Facts = "", nil, []string{"Its state is Unconfirmed: what became of it is not known."}
			}),
		},
		"a fault without evidence": {
			func(s *v1alpha1.ReplicationExperimentStatus) {
				s.Faults[0].InjectedTime, s.Faults[0].State, s.Faults[0].Evidence = nil, v1alpha1.FaultDeleting, ""
			},
			only(func(f *story.Fault) { f.At, f.Events, f.Facts = "", nil, []string{"Its state is Deleting."} }),
		},
	} {
		r := reporttest.SemiSync(t)
		c.change(&r.Status)
		if diff := cmp.Diff([]story.Fault{c.want}, story.Faults(figures.Of(r))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	r := reporttest.SemiSync(t)
	r.Spec.Faults[0].Action, r.Spec.Faults[0].PartitionFrom, r.Status.Faults[0].Role = v1alpha1.ActionPartition, "Peers", v1alpha1.NodeReplica
	if got, want := story.Faults(figures.Of(r))[0].Did, "cut off semisync-db-0, a replica, from the other nodes"; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
}

// second adds a fault that came so many seconds after the first one, with its outage, and gives the first one another.
func second(s *v1alpha1.ReplicationExperimentStatus, after time.Duration, first, outage int64) {
	f := *s.Faults[0].DeepCopy()
	f.Name, f.InjectedTime, f.PlannedTime = "again", ptr.To(metav1.NewMicroTime(f.InjectedTime.Add(after))), metav1.NewMicroTime(f.PlannedTime.Add(after))
	s.Faults[0].OutageMilliseconds, f.OutageMilliseconds = &first, &outage
	s.Faults = append(s.Faults, f)
}

// TestTheHeadlineBlamesNoWrongFault for an outage that several faults were near.
func TestTheHeadlineBlamesNoWrongFault(t *testing.T) {
	for want, change := range map[string]func(*v1alpha1.ReplicationExperimentStatus){
		"1.6 s.": func(s *v1alpha1.ReplicationExperimentStatus) { second(s, 1400*time.Millisecond, 1412, 1600) },
		"1.6 s, after crash at 20.0 s.": func(s *v1alpha1.ReplicationExperimentStatus) {
			second(s, 10*time.Second, 1600, 300)
			s.Faults[1].OutageStartTime = nil
		},
		"1.6 s, after again at 19.9 s.": func(s *v1alpha1.ReplicationExperimentStatus) {
			second(s, -100*time.Millisecond, 300, 1600)
			s.Faults = s.Faults[1:]
		},
	} {
		r := reporttest.SemiSync(t)
		change(&r.Status)
		if got := story.Headline(figures.Of(r)); !strings.HasSuffix(got, "the longest outage was "+want) {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
}

// TestAnOutageEndsAtTheNextFault in the story of its fault.
func TestAnOutageEndsAtTheNextFault(t *testing.T) {
	r := reporttest.SemiSync(t)
	second(&r.Status, time.Second, 1012, 1600)
	all := story.Faults(figures.Of(r))
	for i, want := range []string{"The longest time without an acknowledged write was 1 s, until the next fault.", "The longest time without an acknowledged write was 1.6 s."} {
		if got := all[i].Facts[0]; got != want {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
}

// TestAnOutageIsFoundByItsStart, and not by its length: another gap is as long.
func TestAnOutageIsFoundByItsStart(t *testing.T) {
	r := reporttest.SemiSync(t)
	gap := r.Recorder.Availability.Gaps[0]
	gap.LastAcknowledgedAt, gap.NextNode = metav1.NewMicroTime(gap.LastAcknowledgedAt.Add(time.Minute)), "semisync-db-2"
	gap.NextAcknowledgedAt = ptr.To(metav1.NewMicroTime(gap.NextAcknowledgedAt.Add(time.Minute)))
	r.Recorder.Availability.Gaps = append(r.Recorder.Availability.Gaps, gap)
	r.Status.Failover, r.Status.Faults[0].OutageStartTime = nil, &gap.LastAcknowledgedAt
	want := []story.Event{{After: "1.60 s", What: "first write again on semisync-db-2"}}
	if diff := cmp.Diff(want, story.Faults(figures.Of(r))[0].Events); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestAnOutageWithoutAFailedWriteHasNoEnd that a gap would tell, and still a place in the time.
func TestAnOutageWithoutAFailedWriteHasNoEnd(t *testing.T) {
	r := reporttest.SemiSync(t)
	r.Recorder.Availability.Gaps, r.Status.Failover = nil, nil
	d := figures.Of(r)
	if o := d.OutageOf(d.Status.Faults[0]); o == nil || o.From != 20 || o.To != 21.6 || o.Gap != nil {
		t.Errorf("the outage is %+v", o)
	}
	if told := story.Faults(d)[0]; len(told.Events) > 0 {
		t.Errorf("it tells of %v", told.Events)
	}
}

func TestAnEffectIsToldByItsState(t *testing.T) {
	for want, f := range map[string]v1alpha1.FaultStatus{
		"It ended early: the process was gone.": {State: v1alpha1.FaultEndedEarly, Evidence: "the process was gone"},
		"It ended late.":                        {State: v1alpha1.FaultEndedLate},
		"Its effect was not confirmed.":         {State: v1alpha1.FaultInjected},
	} {
		r := reporttest.SemiSync(t)
		r.Status.Faults[0].State, r.Status.Faults[0].Evidence, r.Status.Faults[0].Confirmed = f.State, f.Evidence, metav1.ConditionFalse
		facts := story.Faults(figures.Of(r))[0].Facts
		if got := facts[len(facts)-1]; got != want {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
}

// TestAMomentIsNoMoreExactThanItsClock in the headline and the story.
func TestAMomentIsNoMoreExactThanItsClock(t *testing.T) {
	for want, clock := range map[string]*v1alpha1.ClockStatus{
		"20.0 s": {LeastAheadMicroseconds: -40, MostAheadMicroseconds: 60}, "about 20.0 s": nil, "about 19.9 s": {LeastAheadMicroseconds: 0, MostAheadMicroseconds: 200_000},
	} {
		r := reporttest.SemiSync(t)
		r.Status.Faults[0].Clock = clock
		d := figures.Of(r)
		if told, headline := story.Faults(d)[0].At, story.Headline(d); told != want || !strings.HasSuffix(headline, " at "+want+".") {
			t.Errorf("it says %q and %q, want %q", told, headline, want)
		}
	}
}

func TestSecondsAreComparable(t *testing.T) {
	for s, want := range map[float64]string{179.97: "3 min 0.0 s", 9.996: "10.0 s", 119.96: "2 min 0.0 s", 0.6512: "0.65 s", 9.99: "9.99 s", 20.04: "20.0 s", 1800: "30 min 0.0 s", 125.26: "2 min 5.3 s"} {
		if got := story.Seconds(s); got != want {
			t.Errorf("%g s are %s, want %s", s, got, want)
		}
	}
}
