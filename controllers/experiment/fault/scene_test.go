package fault

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/topology"
	"replab.dev/internal/wire"
)

// lab is one node, x-db-0, with one fault that is due.
type lab struct {
	state   topology.State
	record  *wire.FaultRecord // the agent's
	silent  bool              // the agent
	refuses error             // the API server
	pod     *corev1.Pod
	// clockless: the recorder has not answered
	clockless bool
	// late: the fault has been due for long
	late bool

	asked   []string // faults that were asked for
	deleted int
}

var errSilent = errors.New("connection refused")

func (l *lab) Faults(_ context.Context, _ string, calls []Call) []Answer {
	answers := make([]Answer, len(calls))
	for i, c := range calls {
		l.asked = append(l.asked, c.Name)
		if answers[i] = (Answer{FaultRecord: wire.FaultRecord{FaultRequest: c.FaultRequest, InjectedAt: ago(0)}}); l.silent {
			answers[i] = Answer{Err: errSilent}
		} else if l.record != nil {
			answers[i].FaultRecord = *l.record
		}
	}
	return answers
}

func (l *lab) FaultState(context.Context, string, string) (*wire.FaultRecord, error) {
	if l.silent {
		return nil, errSilent
	}
	return l.record, nil
}

func (l *lab) Release(context.Context, string, string, string) (wire.FaultRecord, error) {
	l.record.ReleasedAt = ago(0)
	return *l.record, nil
}

func (l *lab) DeletePod(context.Context, types.NamespacedName, types.UID, *int64) error {
	if l.refuses == nil {
		l.deleted++
	}
	return l.refuses
}

// scene of a fault, with its entry in the state given.
func (l *lab) scene(f v1alpha1.Fault, e v1alpha1.FaultStatus) *Scene {
	f.Name, e.Name, e.Fault, e.Pod, e.PodUID, e.Role = "crash", "crash", "crash", "x-db-0", "uid", v1alpha1.NodePrimary
	s := &Scene{
		Spec: []v1alpha1.Fault{f}, Status: &[]v1alpha1.FaultStatus{e}, Now: func() time.Time { return noon }, Agents: l, Deleter: l,
		State: func(context.Context) (topology.State, error) { return l.state, nil },
		Token: func(context.Context) (string, error) { return "token", nil },
	}
	if !l.clockless {
		s.Clock = &v1alpha1.ClockStatus{LeastAheadMicroseconds: -1, MostAheadMicroseconds: 1}
	}
	if l.pod != nil {
		s.Pods = []corev1.Pod{*l.pod}
	}
	return s
}

// newLab has the node as primary of a known topology.
func newLab() *lab {
	return &lab{
		state: topology.State{Known: true, Writers: []string{"x-db-0"}, Nodes: []topology.NodeState{
			{Name: "x-db-0", Role: topology.Writer}, {Name: "x-db-1", Role: topology.Reader},
		}},
		pod: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "x-db-0", UID: "uid"}, Status: corev1.PodStatus{PodIP: "10.0.0.1"}},
	}
}

func (l *lab) demoted() { l.state.Writers[0], l.state.Nodes[0].Role = "x-db-1", topology.Isolated }
