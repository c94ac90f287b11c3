package fault

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/wire"
)

// TestHoldsThatDidNotLast: a fault that ended before its time was another than was planned.
func TestHoldsThatDidNotLast(t *testing.T) {
	const hold = 10
	released := func(after, now time.Duration) *wire.FaultRecord { // after the act, which was now ago
		return &wire.FaultRecord{InjectedAt: ago(now), ReleasedAt: ago(now - after), Evidence: "server process 7 was started after the intent"}
	}
	replaced := func(l *lab) { l.pod.UID = "next" }
	silent := func(l *lab) { l.silent = true }
	for _, c := range []struct {
		name     string
		action   v1alpha1.FaultAction
		injected time.Duration // ago
		record   *wire.FaultRecord
		change   func(*lab)
		want     v1alpha1.FaultState
		text     string
		done     bool
	}{
		{"it holds", v1alpha1.ActionKill, 9 * time.Second, &wire.FaultRecord{InjectedAt: ago(9 * time.Second)}, nil, v1alpha1.FaultConfirmed, "seen", false},
		{"it ended on time", v1alpha1.ActionKill, 12 * time.Second, released(10*time.Second, 12*time.Second), nil, v1alpha1.FaultReleased, "seen", true},
		{"it ended by a clock that was set a little", v1alpha1.ActionKill, 12 * time.Second, released(9950*time.Millisecond, 12*time.Second), nil, v1alpha1.FaultReleased, "seen", true},
		{"it ended late", v1alpha1.ActionPause, 20 * time.Second, released(15*time.Second, 20*time.Second), nil, v1alpha1.FaultEndedLate, "seen; it ended 5000 ms after its time", true},
		{"it ended a little late", v1alpha1.ActionPartition, 20 * time.Second, released(11*time.Second, 20*time.Second), nil, v1alpha1.FaultReleased, "seen", true},
		{"it was taken away late, and had ended by itself", v1alpha1.ActionKill, 20 * time.Second, released(15*time.Second, 20*time.Second), nil, v1alpha1.FaultReleased, "seen", true},
		{"the server came back early", v1alpha1.ActionKill, 12 * time.Second, released(4*time.Second, 12*time.Second), nil, v1alpha1.FaultEndedEarly, "seen; it ended 6000 ms before its time: server process 7 was started", true},
		{"the agent is slow to end it", v1alpha1.ActionKill, 12 * time.Second, &wire.FaultRecord{InjectedAt: ago(12 * time.Second)}, nil, v1alpha1.FaultConfirmed, "seen", false},
		{"the agent never ends it", v1alpha1.ActionKill, 31 * time.Second, &wire.FaultRecord{InjectedAt: ago(31 * time.Second)}, nil, v1alpha1.FaultUnconfirmed, "when its hold ended is not known: its agent has not ended it", true},
		{"the agent is silent", v1alpha1.ActionKill, 12 * time.Second, nil, silent, v1alpha1.FaultConfirmed, "seen", false},
		{"the agent stays silent", v1alpha1.ActionKill, 31 * time.Second, nil, silent, v1alpha1.FaultUnconfirmed, "is not known: connection refused", true},
		{"its note is gone with the volume", v1alpha1.ActionDeletePod, 12 * time.Second, nil, nil, v1alpha1.FaultEndedEarly, "lost its record", true},
		{"the hold of a kill outlives the pod", v1alpha1.ActionKill, 20 * time.Second, released(15*time.Second, 20*time.Second), replaced, v1alpha1.FaultReleased, "seen", true},
		{"a pause ends with its pod", v1alpha1.ActionPause, 20 * time.Second, released(15*time.Second, 20*time.Second), replaced, v1alpha1.FaultEndedEarly, "with its pod, which was replaced", true},
		{"a pod that was replaced after a pause", v1alpha1.ActionPause, 20 * time.Second, released(10*time.Second, 20*time.Second), replaced, v1alpha1.FaultReleased, "seen", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLab()
			if l.record = c.record; c.change != nil {
				c.change(l)
			}
			e := v1alpha1.FaultStatus{State: v1alpha1.FaultConfirmed, Confirmed: metav1.ConditionTrue, Evidence: "seen", InjectedTime: ago(c.injected)}
			s := l.scene(v1alpha1.Fault{Action: c.action, HoldSeconds: hold}, e)
			out := Held(t.Context(), s)
			if got := (*s.Status)[0]; got.State != c.want || out.Done != c.done || !strings.Contains(got.Evidence, c.text) {
				t.Errorf("done %v, %s: %q", out.Done, got.State, got.Evidence)
			} else if lasted := c.want == v1alpha1.FaultConfirmed || c.want == v1alpha1.FaultReleased; (got.Confirmed == metav1.ConditionTrue) != lasted {
				t.Errorf("%s is confirmed %s", got.State, got.Confirmed)
			}
		})
	}
}

func TestHoldsUntilTheAuditIsDone(t *testing.T) {
	standing := func() *wire.FaultRecord { return &wire.FaultRecord{InjectedAt: ago(time.Minute)} }
	for _, c := range []struct {
		name    string
		change  func(*lab)
		silence time.Duration
		want    v1alpha1.FaultState // when it was asked, and then released
		text    string
		done    bool
	}{
		{"it stands", func(*lab) {}, 0, v1alpha1.FaultReleased, "seen", true},
		{"it does not", func(l *lab) { l.record.ReleasedAt = ago(time.Second) }, 0, v1alpha1.FaultEndedEarly, "before the audit was done", true},
		{"its pod was replaced", func(l *lab) { l.pod.UID = "next" }, 0, v1alpha1.FaultEndedEarly, "before the audit was done", true},
		{"the agent is silent", func(l *lab) { l.silent = true }, 0, v1alpha1.FaultConfirmed, "seen", false},
		{"the agent stays silent", func(l *lab) { l.silent = true }, 21 * time.Second, v1alpha1.FaultUnconfirmed, "Whether it held until the end of the audit is unknown", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLab()
			l.record = standing()
			c.change(l)
			e := v1alpha1.FaultStatus{State: v1alpha1.FaultConfirmed, Evidence: "seen", InjectedTime: ago(time.Minute)}
			if c.silence > 0 {
				e.SilentTime = ago(c.silence)
			}
			s := l.scene(v1alpha1.Fault{Action: v1alpha1.ActionPause, HoldSeconds: -1}, e)
			out := Standing(t.Context(), s)
			if out.Done {
				if err := Release(t.Context(), s); err != nil {
					t.Fatal(err)
				}
			}
			if got := (*s.Status)[0]; got.State != c.want || out.Done != c.done || !strings.Contains(got.Evidence, c.text) {
				t.Errorf("done %v, %s: %q", out.Done, got.State, got.Evidence)
			}
		})
	}
}
