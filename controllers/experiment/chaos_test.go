package experiment

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/results"
	"replab.dev/test/experiment"
)

// calmRun is a run in which no call fails, with what there was before each reconcile.
type calmRun struct {
	*flaky
	end     *v1alpha1.ReplicationExperiment
	moments []moment
}

// moment is what there is before a reconcile: the world, the store, and how many calls there were.
type moment struct {
	world *world
	store store
	calls int
}

func calm(t *testing.T, x *v1alpha1.ReplicationExperiment, change ...func(*world)) *calmRun {
	t.Helper()
	r := &calmRun{flaky: &flaky{world: newWorld(t, x)}}
	for _, c := range change {
		c(r.world)
	}
	store := storeOf(t, r.world, r.flaky, x.DeepCopy())
	r.end = playOn(t, store, r.world, r.flaky, client.ObjectKeyFromObject(x), func() {
		r.moments = append(r.moments, moment{r.copy(t), *store, len(r.calls)})
	})
	return r
}

// from plays the run again, begun with the last reconcile before which enough had not happened yet, and changed: until then the two runs are
// the same.
func (r *calmRun) from(t *testing.T, enough func(moment) bool, change func(*flaky)) (*flaky, *v1alpha1.ReplicationExperiment) {
	t.Helper()
	next := slices.IndexFunc(r.moments, enough)
	if next < 0 {
		next = len(r.moments)
	}
	from := r.moments[next-1]
	f := &flaky{world: from.world.copy(t), calls: slices.Clone(r.calls[:from.calls])}
	change(f)
	store := from.store
	store.w, store.p = f.world, f
	return f, playOn(t, &store, f.world, f, client.ObjectKeyFromObject(r.end), func() {})
}

// failing plays the run again with the call number failAt failing.
func (r *calmRun) failing(t *testing.T, failAt int, lost bool) (*flaky, *v1alpha1.ReplicationExperiment) {
	t.Helper()
	return r.from(t, func(m moment) bool { return m.calls >= failAt }, func(f *flaky) { f.failAt, f.lost = failAt, lost })
}

// apartFromTimes compares what does not depend on when it was.
var apartFromTimes = cmp.Options{
	cmp.Comparer(func(a, b *metav1.Time) bool { return (a == nil) == (b == nil) }),
	cmp.Comparer(func(a, b *metav1.MicroTime) bool { return (a == nil) == (b == nil) }),
	cmpopts.IgnoreTypes(metav1.Time{}, metav1.MicroTime{}),
	cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".UndelayedMilliseconds" },
		cmp.Comparer(func(a, b int64) bool { return (a == 0) == (b == 0) })),
	cmpopts.EquateEmpty(),
}

// brief is a run whose every call can be failed in little time.
const brief = `
apiVersion: replab.dev/v1alpha1
kind: ReplicationExperiment
metadata: {name: brief}
spec:
  topology: {type: SemiSync, nodes: 3}
  load: {stages: [{name: steady, durationSeconds: 8, users: 10}]}
  faults: [{name: crash, atSeconds: 3, target: Primary, action: Kill, holdSeconds: 4}]
  goals: [{metric: lostWrites, max: 0}]
  keep: Never
`

// disturbed are runs with a fault of each kind.
var disturbed = map[string]string{
	"kill":             "{name: crash, atSeconds: 3, target: Primary, action: Kill, holdSeconds: 4}",
	"delete":           "{name: crash, atSeconds: 3, target: Primary, action: DeletePod}",
	"links":            "{name: crash, atSeconds: 3, target: Primary, action: Kill, holdSeconds: 4}",
	"links and delete": "{name: crash, atSeconds: 3, target: Primary, action: DeletePod}",
	"pause":            "{name: stop, atSeconds: 3, target: AllReplicas, action: Pause, holdSeconds: 2}",
}

func briefRun(t *testing.T, name string) *v1alpha1.ReplicationExperiment {
	t.Helper()
	fault := disturbed[name]
	x := experiment.Parse(t, []byte(brief))
	if strings.HasPrefix(name, "links") {
		x.Spec.Topology.Zones = []v1alpha1.Zone{{Name: "eu", Nodes: []int32{0, 1}}, {Name: "us", Nodes: []int32{2}}}
		x.Spec.Topology.Links = []v1alpha1.Link{{From: "eu", To: "us", RoundTripMilliseconds: 87}}
		x.Spec.App.Zone = "eu"
	}
	x.Spec.Faults = nil
	if err := yaml.Unmarshal([]byte("["+fault+"]"), &x.Spec.Faults); err != nil {
		t.Fatal(err)
	}
	return x
}

// apart is the first call of a disturbed run that another does not make: until the load runs, the one with links does all that they do.
func (r *calmRun) apart(name string) int {
	if name == "links" {
		return 0
	}
	return slices.IndexFunc(r.calls, func(call string) bool { return strings.HasPrefix(call, "resume") })
}

// stride is from which call to which: with -short to the next but six.
func stride() int {
	if testing.Short() {
		return 7
	}
	return 1
}

// TestAnyCallMayFailOnce fails each call of the operator to the API server and to the processes in turn, also each write of the
// status: faults, verdict, results and status must be those of a run in which none failed.
func TestAnyCallMayFailOnce(t *testing.T) {
	for name := range disturbed {
		t.Run(name, func(t *testing.T) {
			x := briefRun(t, name)
			calm := calm(t, x)
			want := calm.end
			if want.Status.Verdict != v1alpha1.VerdictPassed || len(calm.calls) < 100 {
				t.Fatalf("with %d calls and no failure the run came to %s: %q", len(calm.calls), want.Status.Verdict, want.Status.Reasons)
			}
			for i := calm.apart(name); i < len(calm.calls); i += stride() {
				t.Run(fmt.Sprint(i+1), func(t *testing.T) {
					t.Parallel()
					f, got := calm.failing(t, i+1, false)
					calm.expect(t, want, f, got)
				})
			}
		})
	}
}

// TestAnyAnswerMayBeLostOnce has each act take effect and its caller told that it failed. When a pod was deleted is then not known.
func TestAnyAnswerMayBeLostOnce(t *testing.T) {
	for name := range disturbed {
		t.Run(name, func(t *testing.T) {
			x := briefRun(t, name)
			calm := calm(t, x)
			want := calm.end
			for i := calm.apart(name); i < len(calm.calls); i += stride() {
				call := calm.calls[i]
				if acts := regexp.MustCompile("^(apply|create|delete|remove|send|fault|resume|finish|write|set|clear|measure)"); !acts.MatchString(call) {
					continue
				}
				t.Run(fmt.Sprint(i+1), func(t *testing.T) {
					t.Parallel()
					f, got := calm.failing(t, i+1, true)
					if call != "delete pod" {
						calm.expect(t, want, f, got)
					} else if f.kills != calm.kills || got.Status.Verdict != v1alpha1.VerdictInconclusive || !strings.Contains(got.Status.Reasons[0], "since when is unknown") {
						t.Errorf("%d acts; %s: %q", f.kills, got.Status.Verdict, got.Status.Reasons)
					}
				})
			}
		})
	}
}

// TestARunThatEndsEarlyIsHaltedWhateverFails: load and probes that went on would disturb the next experiment.
func TestARunThatEndsEarlyIsHaltedWhateverFails(t *testing.T) {
	x := briefRun(t, "kill")
	play := func(failAt int) (*flaky, *v1alpha1.ReplicationExperiment) {
		f := &flaky{world: newWorld(t, x), failAt: failAt}
		f.space = time.Second
		return f, play(t, f.world, f, x.DeepCopy())
	}
	calm, want := play(0)
	from := slices.Index(calm.calls, "remove the load")
	if from < 0 || want.Status.Verdict != v1alpha1.VerdictInconclusive {
		t.Fatalf("the run came to %s by %q", want.Status.Verdict, calm.calls)
	}
	for i := from; i < len(calm.calls); i++ {
		f, got := play(i + 1)
		if diff := cmp.Diff(slices.Concat(want.Status.Reasons, want.Status.Notes), slices.Concat(got.Status.Reasons, got.Status.Notes)); diff != "" || !f.finished || len(f.objects) > 0 {
			t.Errorf("after %q had failed: probes ended %v, %d objects left: %s", f.calls[i], f.finished, len(f.objects), diff)
		}
	}
}

// expect compares another run with this one.
func (f *flaky) expect(t *testing.T, want *v1alpha1.ReplicationExperiment, other *flaky, got *v1alpha1.ReplicationExperiment) {
	t.Helper()
	what := other.calls[other.failAt-1]
	if diff := cmp.Diff(want.Status, got.Status, apartFromTimes); diff != "" {
		t.Errorf("after %q had failed: %s", what, diff)
	}
	if other.kills != f.kills {
		t.Errorf("after %q had failed: %d acts, want %d", what, other.kills, f.kills)
	}
	if other.documents[results.Name(got.Name)] == nil {
		t.Errorf("after %q had failed there are no results", what)
	}
}
