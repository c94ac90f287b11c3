package controllers

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/protocol"
	"replab.dev/test/experiment"
)

// outcome is what must be the same whenever the operator is stopped.
type outcome struct {
	Verdict      v1alpha1.Verdict
	Reason       string
	Reasons      string
	Faults       []string
	Kills, Loads int
	Conditions   []string
	Ghosts, Lost int64
}

const semisync = `
apiVersion: replab.dev/v1alpha1
kind: ReplicationExperiment
metadata: {name: semisync}
spec:
  topology: {type: SemiSync, replicas: 2}
  load: {stages: [{name: steady, durationSeconds: 40, users: 10}]}
  faults: [{name: crash, atSeconds: 15, target: Primary, action: Kill, holdSeconds: 10}]
  goals: [{metric: lostWrites, max: 0}]
  keep: Never
`

// TestAStoppedOperatorNeitherRepeatsNorForgets stops the operator after each of its writes in turn, also those of the
// status, and starts another: faults, load and verdict must be those of an operator that was never stopped.
func TestAStoppedOperatorNeitherRepeatsNorForgets(t *testing.T) {
	want, writes := carryOut(t, semisync, 0, false)
	if want.Verdict != v1alpha1.VerdictPassed || want.Kills != 1 || want.Loads != 1 || len(want.Faults) != 1 || want.Ghosts != 1 {
		t.Fatalf("without a stop the run came to %+v", want)
	}
	if writes < 40 {
		t.Fatalf("the run made %d writes only: does the world still count them?", writes)
	}
	for n := 1; n <= writes; n++ {
		t.Run(fmt.Sprintf("stopped after write %d", n), func(t *testing.T) {
			if got, _ := carryOut(t, semisync, n, false); !cmp.Equal(want, got) {
				t.Error(cmp.Diff(want, got))
			}
		})
	}
}

// TestAStatusWrittenOnOldNewsIsRefused lets another writer come first before each status write: the step's decision was taken on an
// old status, and must be taken anew.
func TestAStatusWrittenOnOldNewsIsRefused(t *testing.T) {
	want, _ := carryOut(t, semisync, 0, false)
	if got, _ := carryOut(t, semisync, 0, true); !cmp.Equal(want, got) {
		t.Error(cmp.Diff(want, got))
	}
}

// TestADeletedPodIsDeletedOnce stops the operator after each write of a run that deletes a pod. The moment of a deletion that nobody
// wrote down is lost: then the verdict is Inconclusive and says so, and no second pod is deleted.
func TestADeletedPodIsDeletedOnce(t *testing.T) {
	deletion := strings.Replace(semisync, "action: Kill, holdSeconds: 10", "action: DeletePod", 1)
	want, writes := carryOut(t, deletion, 0, false)
	if want.Verdict != v1alpha1.VerdictPassed || want.Kills != 1 {
		t.Fatalf("without a stop the run came to %+v", want)
	}
	unknown := 0
	for n := 1; n <= writes; n++ {
		got, _ := carryOut(t, deletion, n, false)
		if got.Kills != 1 || got.Loads != 1 {
			t.Errorf("stopped after write %d: %d deletions, %d loads", n, got.Kills, got.Loads)
		}
		if got.Verdict == v1alpha1.VerdictInconclusive && strings.Contains(got.Reason, "operator was stopped while it deleted it") {
			unknown++
		} else if !cmp.Equal(want, got) {
			t.Errorf("stopped after write %d: %s", n, cmp.Diff(want, got))
		}
	}
	if unknown != 1 {
		t.Errorf("%d stops left the moment of the deletion unknown, want 1: the one right after it", unknown)
	}
}

// stuckReplica is the experiment of a world in which a replica stops applying.
const stuckReplica = semisync + "# and a replica that stops applying\n"

// TestAReplicaThatNeverCatchesUpDoesNotHoldTheRun ends with the figures of the primary and says what was found, once.
func TestAReplicaThatNeverCatchesUpDoesNotHoldTheRun(t *testing.T) {
	got, _ := carryOut(t, stuckReplica, 0, false)
	if n := strings.Count(got.Reasons, "had not come to rest when they were audited: semisync-db-2"); n != 1 || got.Kills != 1 {
		t.Errorf("said %d times, want once: %s", n, got.Reasons)
	}
}

// longAway is the experiment of a world in which a stopped operator is missed for longer than the load lasts.
const longAway = semisync + "# and nobody starts another operator for long\n"

// TestNoFaultIsInjectedAfterTheLoad stops the operator for longer than the load: a fault that was not injected by then never is, and one
// that was is not denied.
func TestNoFaultIsInjectedAfterTheLoad(t *testing.T) {
	_, writes := carryOut(t, longAway, 0, false)
	missed := 0
	for n := 1; n <= writes; n++ {
		got, _ := carryOut(t, longAway, n, false)
		switch {
		case got.Kills == 0 && got.Verdict == v1alpha1.VerdictInconclusive && strings.Contains(got.Reason, "it was not injected afterwards"):
			missed++
		case got.Kills != 1 || strings.Contains(got.Reasons, "not injected"):
			t.Errorf("stopped after write %d: %d kills, %s: %s", n, got.Kills, got.Verdict, got.Reasons)
		}
	}
	if missed == 0 {
		t.Error("no stop made the operator miss its fault: is it still away long enough?")
	}
}

func carryOut(t *testing.T, text string, crashAt int, disturb bool) (outcome, int) {
	t.Helper()
	x := experiment.Parse(t, []byte(text))
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, x, crashAt)
	w.stuck = text == stuckReplica
	if text == longAway {
		w.away = 2 * time.Minute
	}
	disturbed := false
	store := fake.NewClientBuilder().WithScheme(scheme).WithObjects(x).WithStatusSubresource(x).WithInterceptorFuncs(interceptor.Funcs{
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
			if disturbed = !disturbed; disturb && disturbed {
				other := &v1alpha1.ReplicationExperiment{}
				if err := c.Get(ctx, client.ObjectKeyFromObject(obj), other); err != nil {
					return err
				}
				other.Annotations = map[string]string{"touched": fmt.Sprint(w.now)}
				w.now = w.now.Add(time.Millisecond)
				if err := c.Update(ctx, other); err != nil {
					return err
				}
			}
			if err := c.SubResource(sub).Patch(ctx, obj, patch, opts...); err != nil {
				return err
			}
			w.wrote("status")
			return nil
		},
	}).Build()
	for range 3000 {
		after, stopped := once(t, store, w, client.ObjectKeyFromObject(x))
		if stopped {
			w.now = w.now.Add(w.away) // until another operator is there
			continue
		}
		found := &v1alpha1.ReplicationExperiment{}
		if err := store.Get(t.Context(), client.ObjectKeyFromObject(x), found); err != nil {
			t.Fatal(err)
		}
		if isTrue(found.Status.Conditions, v1alpha1.ConditionComplete) {
			return outcomeOf(found, w), w.writes
		}
		w.now = w.now.Add(max(after, time.Millisecond))
	}
	t.Fatalf("the run does not end; its last writes were %v", w.log[max(0, len(w.log)-5):])
	return outcome{}, 0
}

// once is one reconcile by an operator that knows nothing of before.
func once(t *testing.T, store client.Client, w *world, key client.ObjectKey) (after time.Duration, stopped bool) {
	defer func() {
		if r := recover(); r != nil {
			var c crash
			if err, ok := r.(crash); ok {
				c, stopped = err, true
				t.Logf("stopped after: %s", c.write)
				return
			}
			panic(r)
		}
	}()
	r := &Reconciler{
		Client: store, Cluster: w, Processes: w, Events: &events.FakeRecorder{}, Now: func() time.Time { return w.now },
		Config: protocol.OperatorConfig{ClusterDomain: "cluster.local"},
	}
	result, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key})
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Fatalf("reconcile: %v", err)
	}
	return result.RequeueAfter, false
}

func outcomeOf(x *v1alpha1.ReplicationExperiment, w *world) outcome {
	o := outcome{Verdict: x.Status.Verdict, Kills: w.kills, Loads: w.loads}
	if len(x.Status.Reasons) > 0 {
		o.Reason, o.Reasons = x.Status.Reasons[0], strings.Join(x.Status.Reasons, "\n")
	}
	if x.Status.GhostWrites != nil {
		o.Ghosts = *x.Status.GhostWrites
	}
	if x.Status.Writes != nil && x.Status.Writes.Lost != nil {
		o.Lost = *x.Status.Writes.Lost
	}
	for _, f := range x.Status.Faults {
		o.Faults = append(o.Faults, fmt.Sprintf("%s %s %s %s", f.Name, f.Pod, f.PodUID, f.Confirmed))
	}
	for _, c := range x.Status.Conditions {
		o.Conditions = append(o.Conditions, fmt.Sprintf("%s=%s", c.Type, c.Status))
	}
	return o
}
