package suite

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/api/v1alpha1/validation"
	"replab.dev/test/experiment"
)

const pair = `
apiVersion: replab.dev/v1alpha1
kind: ReplicationSuite
metadata: {name: pair}
spec:
  template:
    spec:
      topology: {type: Async, nodes: 2}
      load: {stages: [{name: steady, durationSeconds: 40, users: 10}]}
  variants:
  - {name: async}
  - {name: semisync, patch: {topology: {type: SemiSync}}}
  trials: 6
  comparisons: [{of: semisync, to: async, metrics: [requestsPerSecond]}]
  expectations:
  - {variant: semisync, metric: lostWrites, max: 0}
  - {comparison: semisync/async, metric: requestsPerSecond, maxPercent: 80}
`

func parse(t *testing.T, text string) *v1alpha1.ReplicationSuite {
	t.Helper()
	return experiment.ParseSuite(t, []byte(text))
}

// slower ends all trials well: semi-synchronous ones with half the rate, and one asynchronous one with losses.
func slower(name string) ending {
	switch {
	case strings.Contains(name, "semisync"):
		return ending{verdict: v1alpha1.VerdictPassed, rate: 50 + int64(name[len(name)-1]-'0')}
	case name == "pair-async-3":
		return ending{verdict: v1alpha1.VerdictPassed, lost: 7, rate: 100}
	}
	return passed(name)
}

func condition(s *v1alpha1.ReplicationSuite, name string) metav1.Condition {
	return ptr.Deref(meta.FindStatusCondition(s.Status.Conditions, name), metav1.Condition{})
}

func TestSuiteComesToItsConclusion(t *testing.T) {
	w := newWorld(t, slower)
	w.apply(pair)
	s := w.until(over, "pair")
	if s.Status.Verdict != v1alpha1.VerdictPassed || condition(s, "Passed").Status != metav1.ConditionTrue || condition(s, "Complete").Reason != "Passed" {
		t.Errorf("%s %v", s.Status.Verdict, s.Status.Reasons)
	}
	want := &v1alpha1.TrialCounts{Total: 12, Done: 12, Passed: 12}
	if diff := cmp.Diff(want, s.Status.Trials); diff != "" || s.Status.Columns["trials"] != "12/12" || s.Status.Columns["conclusion"] != "Passed" {
		t.Error(diff, s.Status.Columns)
	}
	for round := range 6 {
		both := w.order[2*round : 2*round+2]
		if !slices.Contains(both, fmt.Sprintf("pair-async-%d", round+1)) || !slices.Contains(both, fmt.Sprintf("pair-semisync-%d", round+1)) {
			t.Errorf("round %d has %v", round+1, both)
		}
	}
	if c := s.Status.Comparisons[0]; c.Conclusion != "Lower" || c.N != 6 {
		t.Errorf("%+v", c)
	}
	if l := s.Status.Variants[0].Losses; l == nil || l.LostIn != 1 || l.Of != 6 || l.UpperPercent != 59 {
		t.Errorf("losses of async: %+v", l)
	}
	var all v1alpha1.ReplicationExperimentList
	must(t, w.client.List(t.Context(), &all))
	for _, x := range all.Items {
		if (x.Spec.Keep == v1alpha1.KeepNever) == (x.Name == "pair-async-3") {
			t.Errorf("%s has keep %s", x.Name, x.Spec.Keep)
		}
		if !metav1.IsControlledBy(&x, s) || x.Labels[v1alpha1.LabelSuite] != "pair" {
			t.Errorf("%s is owned by %v, labels %v", x.Name, x.OwnerReferences, x.Labels)
		}
	}
}

// TestAKilledOperatorReachesTheSameTrials kills it at each write in turn, before and after it takes effect.
func TestAKilledOperatorReachesTheSameTrials(t *testing.T) {
	ends := func(name string) ending {
		if name == "pair-async-2" {
			return ending{verdict: v1alpha1.VerdictInconclusive}
		}
		return slower(name)
	}
	short := strings.Replace(pair, "trials: 6", "trials: 2", 1)
	short = short[:strings.Index(short, "  - {comparison")]
	calm := newWorld(t, ends)
	calm.apply(short)
	want := calm.until(over, "pair")
	if calm.writes < 20 || want.Status.Trials.Repeated != 1 {
		t.Fatalf("%d writes, %+v", calm.writes, want.Status.Trials)
	}
	times := cmpopts.IgnoreTypes(&metav1.Time{}, metav1.Time{})
	uids := cmpopts.IgnoreFields(v1alpha1.TrialRun{}, "UID")
	for _, before := range []bool{true, false} {
		for at := 1; at <= calm.writes; at++ {
			t.Run(fmt.Sprintf("write %d, before it took effect: %v", at, before), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, ends)
				w.killAt, w.before, w.lags = at, before, true
				w.apply(short)
				got := w.until(over, "pair")
				if diff := cmp.Diff(calm.order, w.order); diff != "" {
					t.Error("trials:\n" + diff)
				}
				if diff := cmp.Diff(want.Status, got.Status, times, uids); diff != "" {
					t.Error("status:\n" + diff)
				}
			})
		}
	}
}

// TestAnOperatorKilledAgainAndAgainReachesTheSameConclusion: with its comparisons.
func TestAnOperatorKilledAgainAndAgainReachesTheSameConclusion(t *testing.T) {
	calm := newWorld(t, slower)
	calm.apply(pair)
	want := calm.until(over, "pair")
	for _, every := range []int{2, 3, 5} {
		w := newWorld(t, slower)
		w.killEvery, w.lags = every, true
		w.apply(pair)
		got := w.until(over, "pair")
		if w.kills < 10 {
			t.Errorf("only %d kills", w.kills)
		}
		if diff := cmp.Diff(calm.order, w.order); diff != "" {
			t.Errorf("killed %d times, trials:\n%s", w.kills, diff)
		}
		if diff := cmp.Diff(want.Status, got.Status, cmpopts.IgnoreTypes(&metav1.Time{}, metav1.Time{}), cmpopts.IgnoreFields(v1alpha1.TrialRun{}, "UID")); diff != "" {
			t.Errorf("killed %d times, status:\n%s", w.kills, diff)
		}
	}
}

// TestEventsTellOfTrialsAndTheConclusion, each once.
func TestEventsTellOfTrialsAndTheConclusion(t *testing.T) {
	w := newWorld(t, passed)
	w.apply(strings.Replace(pair[:strings.Index(pair, "  comparisons")], "trials: 6", "trials: 1", 1))
	w.until(over, "pair")
	close(w.events)
	var got []string
	for e := range w.events {
		got = append(got, e)
	}
	slices.Sort(got)
	want := []string{
		"Normal Passed All trials were measured. The suite has no expectations.",
		"Normal TrialEnded pair-async-1: Passed", "Normal TrialEnded pair-semisync-1: Passed", "Normal TrialStarted pair-async-1", "Normal TrialStarted pair-semisync-1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSuitesNeverTakeEachOthersTrials(t *testing.T) {
	w := newWorld(t, passed)
	mine := strings.Replace(pair, "{name: async}", "{name: b-async}", 1)
	mine = mine[:strings.Index(mine, "  comparisons")]
	other := strings.NewReplacer("name: pair}", "name: pair-b}", "name: b-async", "name: async").Replace(mine)
	w.apply(strings.Replace(mine, "trials: 6", "trials: 2", 1)) // pair-b-async-1 in both
	w.apply(strings.Replace(other, "trials: 6", "trials: 2", 1))
	s := w.until(over, "pair", "pair-b")
	if s.Status.Verdict != v1alpha1.VerdictPassed {
		t.Errorf("the first: %v", s.Status.Reasons)
	}
	second := w.suite("pair-b")
	if c := condition(second, "Complete"); c.Status != metav1.ConditionFalse || c.Reason != v1alpha1.ReasonNameTaken || !strings.Contains(c.Message, "pair-b-async-") {
		t.Errorf("the second: %+v", c)
	}
	var all v1alpha1.ReplicationExperimentList
	must(t, w.client.List(t.Context(), &all))
	for _, x := range all.Items {
		if first := x.Name == "pair-b-async-1" || x.Name == "pair-b-async-2" || strings.HasPrefix(x.Name, "pair-semisync"); metav1.IsControlledBy(&x, s) != first {
			t.Errorf("%s is owned by %v", x.Name, x.OwnerReferences)
		}
	}
}

func TestSuiteDoesNotStartWhileATrialsNameIsTaken(t *testing.T) {
	w := newWorld(t, passed)
	foreign := experiment.Parse(t, []byte("{metadata: {name: pair-async-6}, spec: {topology: {type: Single}, load: {stages: [{name: a, durationSeconds: 1, users: 1}]}}}"))
	must(t, w.client.Create(t.Context(), foreign))
	w.apply(pair)
	s := w.until(func(s *v1alpha1.ReplicationSuite) bool { return condition(s, "Accepted").Reason != "" }, "pair")
	if c := condition(s, "Accepted"); c.Reason != v1alpha1.ReasonNameTaken || s.Status.StartTime != nil || !strings.Contains(c.Message, "pair-async-6") {
		t.Errorf("%+v", c)
	}
}

// TestAnExperimentInTheWayIsLeftAlone: it comes after the suite has started.
func TestAnExperimentInTheWayIsLeftAlone(t *testing.T) {
	w := newWorld(t, passed)
	w.apply(pair)
	w.until(func(s *v1alpha1.ReplicationSuite) bool { return s.Status.StartTime != nil }, "pair")
	foreign := experiment.Parse(t, []byte("{metadata: {name: pair-async-6}, spec: {topology: {type: Single}, load: {stages: [{name: a, durationSeconds: 1, users: 1}]}}}"))
	must(t, w.client.Create(t.Context(), foreign))
	s := w.until(func(s *v1alpha1.ReplicationSuite) bool {
		return condition(s, "Complete").Reason == v1alpha1.ReasonNameTaken
	}, "pair")
	if last := s.Status.Runs[len(s.Status.Runs)-1]; last.Name != "pair-async-6" || last.UID != "" {
		t.Errorf("it has taken %+v", last)
	}
	must(t, w.client.Delete(t.Context(), foreign))
	if s := w.until(over, "pair"); s.Status.Trials.Passed != 12 {
		t.Errorf("once it is gone: %+v", s.Status.Trials)
	}
}

func TestInvalidTrialStopsTheSuite(t *testing.T) {
	w := newWorld(t, func(name string) ending {
		if name == "pair-async-2" {
			return ending{verdict: v1alpha1.VerdictInvalid}
		}
		return passed(name)
	})
	w.apply(pair)
	s := w.until(over, "pair")
	if s.Status.Verdict != v1alpha1.VerdictInvalid || w.order[len(w.order)-1] != "pair-async-2" || !strings.Contains(s.Status.Reasons[0], "pair-async-2 is Invalid, so the suite stopped: because") {
		t.Errorf("%s %v after %v", s.Status.Verdict, s.Status.Reasons, w.order)
	}
}

func TestInconclusiveTrialsAreRepeatedWithinRetries(t *testing.T) {
	w := newWorld(t, func(name string) ending {
		if strings.HasPrefix(name, "pair-semisync-2") {
			return ending{verdict: v1alpha1.VerdictInconclusive}
		}
		return slower(name)
	})
	w.apply(pair)
	s := w.until(over, "pair")
	want := &v1alpha1.TrialCounts{Total: 12, Done: 12, Passed: 11, Inconclusive: 1, Repeated: 2}
	if diff := cmp.Diff(want, s.Status.Trials); diff != "" || !slices.Contains(w.order, "pair-semisync-2-r3") || slices.Contains(w.order, "pair-semisync-2-r4") {
		t.Error(diff, w.order)
	}
	if s.Status.Verdict != v1alpha1.VerdictInconclusive || s.Status.Expectations[0].Met != metav1.ConditionUnknown {
		t.Errorf("%s %+v", s.Status.Verdict, s.Status.Expectations)
	}
}

// TestALossInARepeatedRunCounts: a repetition hides no lost write.
func TestALossInARepeatedRunCounts(t *testing.T) {
	w := newWorld(t, func(name string) ending {
		if name == "pair-semisync-2" {
			return ending{verdict: v1alpha1.VerdictInconclusive, lost: 4}
		}
		return slower(name)
	})
	w.apply(pair)
	s := w.until(over, "pair")
	if s.Status.Verdict != v1alpha1.VerdictFailed || s.Status.Variants[1].Losses.LostIn != 1 || s.Status.Variants[1].Losses.Of != 7 {
		t.Errorf("%s %+v", s.Status.Verdict, s.Status.Variants[1].Losses)
	}
}

func TestADeletedTrialIsRepeated(t *testing.T) {
	w := newWorld(t, slower)
	w.stands = true
	w.apply(pair)
	s := w.until(func(s *v1alpha1.ReplicationSuite) bool { return len(s.Status.Runs) == 1 && s.Status.Runs[0].UID != "" }, "pair")
	must(t, w.client.Delete(t.Context(), &v1alpha1.ReplicationExperiment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: s.Status.Runs[0].Name}}))
	w.stands = false
	s = w.until(over, "pair")
	if s.Status.Trials.Repeated != 1 || s.Status.Trials.Passed != 12 || s.Status.Runs[0].Reason != "it was deleted before its end" {
		t.Errorf("%+v %+v", s.Status.Trials, s.Status.Runs[0])
	}
}

func TestRefusedSuitesMakeNoTrial(t *testing.T) {
	for name, c := range map[string]struct{ from, to, says string }{
		"a variant's spec":  {"type: SemiSync}", "type: SemiSync, nodes: 1}", "variant semisync: spec.topology.nodes: "},
		"an unknown field":  {"patch: {", "patch: {nonsense: 1, ", `variant semisync: unknown field "spec.nonsense"`},
		"a field of ours":   {"patch: {", "patch: {keep: Always, ", "spec.variants[1].patch.keep: the suite sets this field"},
		"an unknown stage":  {"max: 0}", "max: 0}\n  - {variant: async, metric: p99Microseconds, stage: stead, max: 9000}", `spec.expectations[1].stage: variant async has no stage "stead" that counts`},
		"no such figure":    {"max: 0}", "max: 0}\n  - {variant: async, metric: degradedCommits, max: 9}", `spec.expectations[1].metric: no commit waits for a replica here`},
		"an unknown metric": {"metric: lostWrites", "metric: lost", `spec.expectations[0].metric: "lost" is no figure`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, slower)
			w.apply(strings.Replace(pair, c.from, c.to, 1))
			s := w.until(over, "pair")
			if s.Status.Verdict != v1alpha1.VerdictInconclusive || !strings.Contains(s.Status.Reasons[0], c.says) || len(w.order) > 0 || condition(s, "Accepted").Reason != v1alpha1.ReasonSpecRefused {
				t.Errorf("%s %v %v", s.Status.Verdict, s.Status.Reasons, w.order)
			}
			w.edit("pair", func(s *v1alpha1.ReplicationSuite) { s.Spec = parse(t, pair).Spec })
			if s := w.until(over, "pair"); s.Status.Verdict != v1alpha1.VerdictPassed {
				t.Errorf("corrected: %v", s.Status.Reasons)
			}
		})
	}
}

func TestFinishedSuiteGoesAfterItsTime(t *testing.T) {
	w := newWorld(t, passed)
	w.apply(strings.Replace(pair[:strings.Index(pair, "  comparisons")], "trials: 6", "trials: 1\n  ttlSecondsAfterFinished: 60", 1))
	w.until(over, "pair")
	r := w.reconciler()
	for range 62 {
		w.pass(&r, "pair")
	}
	var all v1alpha1.ReplicationSuiteList
	must(t, w.client.List(t.Context(), &all))
	if len(all.Items) > 0 {
		t.Errorf("it is still there: %+v", all.Items[0].Status)
	}
}

func TestALaggingCacheLeavesNoTrialOut(t *testing.T) {
	w := newWorld(t, passed)
	w.lags = true
	w.apply(strings.Replace(pair[:strings.Index(pair, "  comparisons")], "trials: 6", "trials: 1\n  keepTrials: 0", 1))
	s := w.until(over, "pair")
	if a, b := s.Status.Variants[0], s.Status.Variants[1]; a.Trials != 1 || b.Trials != 1 || len(s.Status.Notes) > 0 {
		t.Errorf("%+v, notes %v", s.Status.Variants, s.Status.Notes)
	}
}

// intruder is an experiment of no suite that has the name of a trial.
func (w *world) intruder(name string) {
	w.t.Helper()
	x := experiment.Parse(w.t, []byte("{metadata: {name: "+name+"}, spec: {topology: {type: Single}, load: {stages: [{name: a, durationSeconds: 1, users: 1}]}}}"))
	must(w.t, w.client.Create(w.t.Context(), x))
}

func TestATrialThatAnotherExperimentReplacedIsRepeated(t *testing.T) {
	w := newWorld(t, slower)
	w.stands = true
	w.apply(pair)
	s := w.until(func(s *v1alpha1.ReplicationSuite) bool { return len(s.Status.Runs) == 1 && s.Status.Runs[0].UID != "" }, "pair")
	must(t, w.client.Delete(t.Context(), &v1alpha1.ReplicationExperiment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: s.Status.Runs[0].Name}}))
	w.intruder(s.Status.Runs[0].Name)
	w.stands = false
	s = w.until(over, "pair")
	if s.Status.Trials.Repeated != 1 || s.Status.Trials.Passed != 12 || s.Status.Runs[0].Reason != "it was deleted before its end" {
		t.Errorf("%+v %+v", s.Status.Trials, s.Status.Runs[0])
	}
}

// TestATrialThatWasReplacedByItsOwnYAMLIsRepeated: the YAML names the suite as the owner.
func TestATrialThatWasReplacedByItsOwnYAMLIsRepeated(t *testing.T) {
	w := newWorld(t, slower)
	x := w.waiting()
	must(t, w.client.Delete(t.Context(), x))
	again := x.DeepCopy()
	again.ResourceVersion, again.UID = "", "another"
	must(t, w.client.Create(t.Context(), again))
	w.stands = false
	s := w.until(over, "pair")
	if s.Status.Trials.Repeated != 1 || s.Status.Trials.Passed != 12 || s.Status.Runs[0].Reason != "it was deleted before its end" {
		t.Errorf("%+v %+v", s.Status.Trials, s.Status.Runs[0])
	}
}

// TestATrialThatDoesNotStartStopsTheSuite, which says why in full. The trial is left alone: a change would start it.
func TestATrialThatDoesNotStartStopsTheSuite(t *testing.T) {
	why := "NotFound: " + strings.Repeat("a long reason, ", 14) + "or use provider StatefulSet"
	w := newWorld(t, func(name string) ending {
		if strings.HasPrefix(name, "pair-semisync-2") {
			return ending{verdict: v1alpha1.VerdictInconclusive, refused: true, reason: why}
		}
		return slower(name)
	})
	w.apply(pair)
	s := w.until(over, "pair")
	if s.Status.Verdict != v1alpha1.VerdictInconclusive || s.Status.Reasons[0] != "SpecRefused: Trial pair-semisync-2 did not start: "+why {
		t.Errorf("%s %q", s.Status.Verdict, s.Status.Reasons)
	}
	x := &v1alpha1.ReplicationExperiment{}
	must(t, w.client.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "pair-semisync-2"}, x))
	if x.Spec.Keep != v1alpha1.KeepAlways {
		t.Errorf("keep was set to %s", x.Spec.Keep)
	}
}

// TestTrialsTooLongToBeReadAreRefused: the suite's spec is just short enough, and the trial's defaults make it too long.
func TestTrialsTooLongToBeReadAreRefused(t *testing.T) {
	w := newWorld(t, passed)
	s := parse(t, pair)
	for _, pods := range []string{"all", "nodes", "instruments"} {
		s.Spec.Template.Spec.Raw = fmt.Appendf(nil, `{"pods":{%q:{"annotations":{"a":%q}}},%s`, pods, strings.Repeat("a", 16000), s.Spec.Template.Spec.Raw[1:])
		s.Spec.Template.Spec.Raw = []byte(strings.Replace(string(s.Spec.Template.Spec.Raw), `}},"pods":{`, `},`, 1))
	}
	text, err := json.Marshal(s.Spec)
	must(t, err)
	env := ""
	for left, i := validation.SpecMost-len(text)-120, 0; left > 40; i++ {
		value := strings.Repeat("b", min(left-35, 4000))
		env += fmt.Sprintf(`,{"name":"B%02d","value":%q}`, i, value)
		left -= len(value) + 35
	}
	s.Spec.Variants[1].Patch.Raw = []byte(`{"load":{"script":{"configMapKeyRef":{"name":"s","key":"a.js"},"env":[` + env[1:] + `]}}}`)
	if !validation.Short(&s.Spec) {
		t.Fatal("the suite's spec is too long itself")
	}
	must(t, w.client.Create(t.Context(), s))
	got := w.until(over, "pair")
	if reasons := strings.Join(got.Status.Reasons, ""); !strings.Contains(reasons, "variant semisync: the spec has 6") || len(w.order) > 0 {
		t.Errorf("%.400s; trials %v", reasons, w.order)
	}
}
