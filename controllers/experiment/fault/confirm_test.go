package fault

import (
	"errors"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/wire"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// ago is a time before noon, which is now.
func ago(d time.Duration) *metav1.MicroTime { return ptr.To(metav1.NewMicroTime(noon.Add(-d))) }

func TestWhatAnAgentAnswers(t *testing.T) {
	injected := func(d time.Duration, r wire.FaultRecord) Answer {
		r.InjectedAt = ago(d)
		return Answer{FaultRecord: r}
	}
	silent := Answer{Err: errors.New("connection refused")}
	for _, c := range []struct {
		name    string
		planned time.Duration // ago
		silence time.Duration // since an agent was first found silent; 0: it was not
		answer  Answer
		want    v1alpha1.FaultState
		text    string // of the evidence
	}{
		{"the effect was seen", 2 * time.Second, 0, injected(time.Second, wire.FaultRecord{Concluded: true, Confirmed: true, Evidence: "process gone"}), v1alpha1.FaultConfirmed, "process gone"},
		{"the effect was awaited in vain", 2 * time.Second, 0, injected(time.Second, wire.FaultRecord{Concluded: true, Evidence: "still answers"}), v1alpha1.FaultUnconfirmed, "still answers"},
		{"the act failed", 2 * time.Second, 0, Answer{FaultRecord: wire.FaultRecord{Concluded: true, Evidence: "not injected: no server"}}, v1alpha1.FaultUnconfirmed, "not injected"},
		{"the effect is awaited", 2 * time.Second, 0, injected(time.Second, wire.FaultRecord{}), v1alpha1.FaultInjected, ""},
		{"the effect of a late act is awaited", time.Minute, 0, injected(time.Second, wire.FaultRecord{}), v1alpha1.FaultInjected, ""},
		{"an effect that is never concluded", time.Minute, 0, injected(21*time.Second, wire.FaultRecord{}), v1alpha1.FaultUnconfirmed, "not seen within 20s"},
		{"the agent is silent", 2 * time.Second, 0, silent, v1alpha1.FaultPlanned, ""},
		{"the agent stays silent", 30 * time.Second, 21 * time.Second, silent, v1alpha1.FaultUnconfirmed, "did not take the fault: connection refused"},
		{"the operator is late, and the agent restarts", time.Minute, time.Second, silent, v1alpha1.FaultPlanned, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := &v1alpha1.FaultStatus{Name: "crash", Pod: "x-db-0", PlannedTime: *ago(c.planned), State: v1alpha1.FaultPlanned}
			if c.silence > 0 {
				e.SilentTime = ago(c.silence)
			}
			out := take(&Scene{Now: func() time.Time { return noon }}, target{fault: v1alpha1.Fault{Name: "crash", Action: v1alpha1.ActionKill}, entry: e}, c.answer)
			if e.State != c.want || out.Done != (c.want == v1alpha1.FaultConfirmed || c.want == v1alpha1.FaultUnconfirmed) || !strings.Contains(e.Evidence, c.text) {
				t.Errorf("state %s, done %v: %q", e.State, out.Done, e.Evidence)
			}
		})
	}
}

// TestAPodIsDeletedOnlyUnderItsHold: without the hold the next server would start at once, which is another fault.
func TestAPodIsDeletedOnlyUnderItsHold(t *testing.T) {
	for want, r := range map[v1alpha1.FaultState]wire.FaultRecord{
		v1alpha1.FaultDeleting:    {InjectedAt: ago(0)},
		v1alpha1.FaultUnconfirmed: {Concluded: true, Evidence: "not injected: no such file"},
	} {
		e := &v1alpha1.FaultStatus{Name: "deleted", Pod: "x-db-0", PlannedTime: *ago(0), State: v1alpha1.FaultPlanned}
		out := take(&Scene{Now: func() time.Time { return noon }}, target{fault: v1alpha1.Fault{Action: v1alpha1.ActionDeletePod, HoldSeconds: 10}, entry: e}, Answer{FaultRecord: r})
		if e.State != want || out.Done != (want == v1alpha1.FaultUnconfirmed) || e.Evidence != r.Evidence || e.InjectedTime != nil {
			t.Errorf("done %v, %s: %q, want %s", out.Done, e.State, e.Evidence, want)
		}
	}
}
