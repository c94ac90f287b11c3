package fault

import (
	"errors"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/topology"
	"replab.dev/internal/wire"
)

// TestWhatIsDoneToATargetThatIsDue: only what still has the role that the fault is meant for is hit, and what was hit already, perhaps
// by an operator who could not write it down, is followed to its end.
func TestWhatIsDoneToATargetThatIsDue(t *testing.T) {
	kill := v1alpha1.Fault{Target: v1alpha1.TargetPrimary, Action: v1alpha1.ActionKill}
	remove := v1alpha1.Fault{Target: v1alpha1.TargetPrimary, Action: v1alpha1.ActionDeletePod}
	held := v1alpha1.Fault{Target: v1alpha1.TargetPrimary, Action: v1alpha1.ActionDeletePod, HoldSeconds: 10}
	planned, deleting := v1alpha1.FaultPlanned, v1alpha1.FaultDeleting
	unknown := func(l *lab) { l.state = topology.State{Why: "the director does not answer"} }
	noted := func(l *lab) { l.record = &wire.FaultRecord{InjectedAt: ago(time.Second)} }
	terminating := func(l *lab) { l.pod.DeletionTimestamp = &metav1.Time{Time: noon} }
	clockless := func(l *lab) { l.clockless = true }
	late := func(l *lab) { l.late = true }
	for _, c := range []struct {
		name     string
		fault    v1alpha1.Fault
		state    v1alpha1.FaultState
		change   []func(*lab)
		silence  time.Duration // since something that is needed was first found silent
		loadOver bool
		want     v1alpha1.FaultState
		text     string
		asked    int
		deleted  int
	}{
		{"the primary is killed", kill, planned, nil, 0, false, v1alpha1.FaultInjected, "", 1, 0},
		{"who is primary no more is not", kill, planned, []func(*lab){(*lab).demoted}, 0, false, v1alpha1.FaultUnconfirmed, "not injected: the node was Primary when it was chosen, and Isolated when the fault was due", 0, 0},
		{"who is primary no more since he was killed was", kill, planned, []func(*lab){(*lab).demoted, noted}, 0, false, v1alpha1.FaultInjected, "", 1, 0},
		{"who is primary no more, and cannot be asked why", kill, planned, []func(*lab){(*lab).demoted, func(l *lab) { l.silent = true }}, 0, false, planned, "", 0, 0},
		{"who was primary and cannot be asked for long", kill, planned, []func(*lab){(*lab).demoted, func(l *lab) { l.silent = true }}, 21 * time.Second, false, v1alpha1.FaultUnconfirmed, "is not known: connection refused", 0, 0},
		{"a role that is not known is waited for", kill, planned, []func(*lab){unknown}, 0, false, planned, "", 0, 0},
		{"but not for ever", kill, planned, []func(*lab){unknown}, 21 * time.Second, false, v1alpha1.FaultUnconfirmed, "role could not be learnt: the director does not answer", 0, 0},
		{"a role that is not known since the fault", kill, planned, []func(*lab){unknown, noted}, 0, false, v1alpha1.FaultInjected, "", 1, 0},
		{"a node has no role to lose", v1alpha1.Fault{Target: v1alpha1.TargetNode, Action: v1alpha1.ActionKill}, planned, []func(*lab){unknown}, 0, false, v1alpha1.FaultInjected, "", 1, 0},
		{"the load is over", kill, planned, nil, 0, true, v1alpha1.FaultUnconfirmed, "the load had ended", 0, 0},
		{"the load is over, but the fault was before", kill, planned, []func(*lab){noted}, 0, true, v1alpha1.FaultInjected, "", 1, 0},
		{"the load is over, and the agent is silent", kill, planned, []func(*lab){func(l *lab) { l.silent = true }}, 0, true, planned, "", 0, 0},
		{"another pod has its name", kill, planned, []func(*lab){func(l *lab) { l.pod.UID = "next" }}, 0, false, v1alpha1.FaultUnconfirmed, "Its replacement was not hit", 0, 0},

		{"a deletion is written down first", remove, planned, nil, 0, false, deleting, "", 0, 0},
		{"its hold comes before that", held, planned, nil, 0, false, deleting, "", 1, 0},
		{"then the pod is deleted", held, deleting, nil, 0, false, v1alpha1.FaultInjected, "", 0, 1},
		{"not before the clocks are compared", remove, deleting, []func(*lab){clockless}, 0, false, deleting, "", 0, 0},
		{"but not much later", remove, deleting, []func(*lab){clockless, late}, 0, false, v1alpha1.FaultInjected, "", 0, 1},
		{"a deletion that is refused is tried again", remove, deleting, []func(*lab){func(l *lab) { l.refuses = errors.New("busy") }}, 0, false, deleting, "", 0, 0},
		{"who is primary no more is not deleted", held, deleting, []func(*lab){(*lab).demoted, noted}, 0, false, v1alpha1.FaultUnconfirmed, "Isolated when the fault was due", 0, 0},
		{"nor after the load", remove, deleting, nil, 0, true, v1alpha1.FaultUnconfirmed, "the load had ended", 0, 0},
		{"nor a second time", remove, deleting, []func(*lab){terminating}, 0, false, v1alpha1.FaultUnconfirmed, "since when is unknown", 0, 0},
		{"a pod that somebody else deletes", remove, planned, []func(*lab){terminating}, 0, false, v1alpha1.FaultUnconfirmed, "another client", 0, 0},
		{"a pod that is gone without a time", remove, deleting, []func(*lab){func(l *lab) { l.pod = nil }}, 0, false, v1alpha1.FaultUnconfirmed, "operator was stopped while deleting it", 0, 0},
		{"a pod that goes", remove, v1alpha1.FaultInjected, []func(*lab){terminating, (*lab).demoted}, 0, true, v1alpha1.FaultInjected, "", 0, 0},
		{"a pod that is gone", remove, v1alpha1.FaultInjected, []func(*lab){func(l *lab) { l.pod = nil }}, 0, true, v1alpha1.FaultConfirmed, "this UID is gone", 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLab()
			for _, change := range c.change {
				change(l)
			}
			e := v1alpha1.FaultStatus{State: c.state, PlannedTime: *ago(time.Second)}
			if l.late {
				e.PlannedTime = *ago(2 * time.Second)
			}
			if c.silence > 0 {
				e.SilentTime = ago(c.silence)
			}
			s := l.scene(c.fault, e)
			out, err := Inject(t.Context(), s, noon, c.loadOver)
			got := (*s.Status)[0]
			if err != nil || out.Terminal || out.Done == pending(&got) {
				t.Errorf("came to %+v, %v in state %s", out, err, got.State)
			}
			if got.State != c.want || !strings.Contains(got.Evidence, c.text) || len(l.asked) != c.asked || l.deleted != c.deleted {
				t.Errorf("%s: %q; asked for %v, deleted %d", got.State, got.Evidence, l.asked, l.deleted)
			}
		})
	}
}

// TestOneTargetDoesNotCostAnother: what is known of a pod that was deleted is kept when a call for another target fails.
func TestOneTargetDoesNotCostAnother(t *testing.T) {
	l := newLab()
	s := l.scene(v1alpha1.Fault{Target: v1alpha1.TargetNode, Node: ptr.To[int32](0), Action: v1alpha1.ActionDeletePod}, v1alpha1.FaultStatus{State: v1alpha1.FaultDeleting})
	s.Spec = append(s.Spec, v1alpha1.Fault{Name: "second", Target: v1alpha1.TargetPrimary, Action: v1alpha1.ActionKill})
	*s.Status = append(*s.Status, v1alpha1.FaultStatus{Name: "second", Fault: "second", Pod: "x-db-0", PodUID: "uid", State: v1alpha1.FaultPlanned})
	l.silent = true
	out, err := Inject(t.Context(), s, noon, false)
	if got := *s.Status; err != nil || out.Done || got[0].State != v1alpha1.FaultInjected || got[0].InjectedTime == nil || got[1].State != v1alpha1.FaultPlanned {
		t.Errorf("%+v, %v: %+v", out, err, got)
	}
}
