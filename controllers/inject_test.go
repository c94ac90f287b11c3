package controllers

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/wire"
)

func TestWhatAnAgentAnswers(t *testing.T) {
	micro := func(d time.Duration) metav1.MicroTime { return metav1.NewMicroTime(ago(d).Time) }
	injected := func(d time.Duration, r wire.FaultRecord) FaultAnswer {
		r.InjectedAt = ptr.To(micro(d))
		return FaultAnswer{FaultRecord: r}
	}
	silent := FaultAnswer{Err: errors.New("connection refused")}
	for _, c := range []struct {
		name    string
		planned time.Duration // ago
		silence time.Duration // since an agent was first found silent; 0: it was not
		answer  FaultAnswer
		want    metav1.ConditionStatus
		text    string // of the evidence
	}{
		{"the effect was seen", 2 * time.Second, 0, injected(time.Second, wire.FaultRecord{Settled: true, Confirmed: true, Evidence: "process gone"}), "True", "process gone"},
		{"the effect was awaited in vain", 2 * time.Second, 0, injected(time.Second, wire.FaultRecord{Settled: true, Evidence: "still answers"}), "False", "still answers"},
		{"the act failed", 2 * time.Second, 0, FaultAnswer{FaultRecord: wire.FaultRecord{Settled: true, Evidence: "not injected: no server"}}, "False", "not injected"},
		{"the effect is awaited", 2 * time.Second, 0, injected(time.Second, wire.FaultRecord{}), "Unknown", ""},
		{"the effect of a late act is awaited", time.Minute, 0, injected(time.Second, wire.FaultRecord{}), "Unknown", ""},
		{"an effect that never settles", time.Minute, 0, injected(21*time.Second, wire.FaultRecord{}), "False", "not seen within 20s"},
		{"the agent is silent", 2 * time.Second, 0, silent, "Unknown", ""},
		{"the agent stays silent", 30 * time.Second, 21 * time.Second, silent, "False", "did not take the fault: connection refused"},
		{"the operator is late, and the agent restarts", time.Minute, time.Second, silent, "Unknown", ""},
		{"another agent has been silent for long", 2 * time.Second, time.Minute, silent, "Unknown", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			run := (&scene{}).run(t)
			if c.silence > 0 {
				run.Status.Conditions = []metav1.Condition{{
					Type: v1alpha1.ConditionFaultsInjected, Status: "False", Reason: reasonInjecting, LastTransitionTime: ago(c.silence),
				}}
			}
			e := &v1alpha1.FaultStatus{Name: "crash", Pod: "x-db-0", PlannedTime: micro(c.planned), Confirmed: "Unknown"}
			out := take(run, &target{fault: v1alpha1.Fault{Name: "crash", Action: v1alpha1.ActionKill}, entry: e}, c.answer)
			if e.Confirmed != c.want || out.done != (c.want != "Unknown") || !strings.Contains(e.Evidence, c.text) {
				t.Errorf("confirmed %s, done %v: %q", e.Confirmed, out.done, e.Evidence)
			}
		})
	}
}

// TestAPodIsDeletedOnlyUnderItsHold: without the hold the next server would start at once, which is another fault.
func TestAPodIsDeletedOnlyUnderItsHold(t *testing.T) {
	now := metav1.NewMicroTime(ago(0).Time)
	for evidence, r := range map[string]wire.FaultRecord{
		evidenceDeleting:             {InjectedAt: &now},
		"not injected: no such file": {Settled: true, Evidence: "not injected: no such file"},
	} {
		e := &v1alpha1.FaultStatus{Name: "deleted", Pod: "x-db-0", PlannedTime: now, Confirmed: "Unknown"}
		out := take((&scene{}).run(t), &target{fault: v1alpha1.Fault{Action: v1alpha1.ActionDeletePod, HoldSeconds: 10}, entry: e}, FaultAnswer{FaultRecord: r})
		if e.Evidence != evidence || out.done != (evidence != evidenceDeleting) {
			t.Errorf("done %v, confirmed %s: %q, want %q", out.done, e.Confirmed, e.Evidence, evidence)
		}
	}
}

// TestAtOnce comes to its end only if each call is there before any returns.
func TestAtOnce(t *testing.T) {
	var there sync.WaitGroup
	there.Add(3)
	seen := make([]bool, 3)
	atOnce(3, func(i int) {
		seen[i] = true
		there.Done()
		there.Wait()
	})
	for i, s := range seen {
		if !s {
			t.Errorf("%d was not called", i)
		}
	}
}
