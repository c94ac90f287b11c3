// Package fault carries faults out: aim chooses the pods, act injects, confirm takes down what came of it, release watches the
// holds. Nothing happens to a pod before its name and UID stand in the status, and no other pod is ever hit instead. Acting again
// does no harm: agents remember faults by their name, and a pod is deleted by its UID.
package fault

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/topology"
	"replab.dev/internal/wire"
)

const (
	// aimAhead is how long before a fault its target is written down, so that it can be injected on time.
	aimAhead = 1500 * time.Millisecond
	// agentPatience is how long an agent may stay silent before the fault counts as not injected, or its end as unknown.
	agentPatience = 20 * time.Second
	// confirmPatience is how long an effect may take to show: longer than any agent waits for it.
	confirmPatience = 20 * time.Second
	// clockPatience is how late a pod may be deleted for the sake of a recorder that must answer first: without, nobody knows by the
	// recorder's clock when it was.
	clockPatience = 2 * time.Second
	// releaseSlack is by how much an agent's clock may be set during a hold without the hold counting as ended early.
	releaseSlack = 100 * time.Millisecond
	// switchPatience is how long a topology may take for a planned change that it has accepted: longer than any tries.
	switchPatience = 30 * time.Second
	// releaseLate is how late an agent that watched the whole hold may end it.
	releaseLate = 2 * time.Second
)

// Agents of the nodes.
type Agents interface {
	// Faults asks agents for faults, all at the same moment, again and again with the same effect. The answers are in the
	// order of the calls, and there as soon as the acts are done: what came of them is concluded later.
	Faults(ctx context.Context, token string, calls []Call) []Answer
	// FaultState reads an agent's record of a fault, nil when the agent knows of none.
	FaultState(ctx context.Context, podIP, name string) (*wire.FaultRecord, error)
	// Release ends the hold of a fault.
	Release(ctx context.Context, token, podIP, name string) (wire.FaultRecord, error)
}

// Manager is the topology's own.
type Manager interface {
	// Switchover asks, under a name, for another writer than from. Asking again under the same name changes nothing.
	Switchover(ctx context.Context, token, name, from string) error
}

// Call is a fault that the agent of one pod is asked for.
type Call struct {
	PodIP string
	wire.FaultRequest
}

// Answer is the agent's record, or why there is none.
type Answer struct {
	wire.FaultRecord
	Err error
}

// Deleter deletes a pod only if it still has this UID.
type Deleter interface {
	DeletePod(ctx context.Context, key types.NamespacedName, uid types.UID, gracePeriodSeconds *int64) error
}

// Scene is an experiment at one moment. Status is changed by the functions of this package, and written by others.
type Scene struct {
	Spec  []v1alpha1.Fault
	Zones []v1alpha1.Zone
	// Store tells that the nodes agree in the API server on who takes the writes: see topology.System.
	Store  bool
	Status *[]v1alpha1.FaultStatus
	Now    func() time.Time
	Pods   []corev1.Pod
	// State of the topology, asked when it is needed.
	State func(context.Context) (topology.State, error)
	// Token that agents want to see, read when it is needed.
	Token   func(context.Context) (string, error)
	Agents  Agents
	Manager Manager
	Deleter Deleter
	// Clock is that of Now against the recorder's, nil while the recorder was not asked.
	Clock *v1alpha1.ClockStatus
}

// pod of an entry, nil when it is gone or another has its name.
func (s *Scene) pod(e *v1alpha1.FaultStatus) *corev1.Pod {
	if p := s.named(e.Pod); p != nil && string(p.UID) == e.PodUID {
		return p
	}
	return nil
}

func (s *Scene) named(name string) *corev1.Pod {
	for i := range s.Pods {
		if s.Pods[i].Name == name {
			return &s.Pods[i]
		}
	}
	return nil
}

// entries of a fault in the status, one for each pod that it hits.
func (s *Scene) entries(fault string) []*v1alpha1.FaultStatus {
	var entries []*v1alpha1.FaultStatus
	for i := range *s.Status {
		if e := &(*s.Status)[i]; e.Fault == fault {
			entries = append(entries, e)
		}
	}
	return entries
}

// inOrder are the faults by their times. Of one moment, those that may have any replica come last: they leave the others theirs.
func (s *Scene) inOrder() []v1alpha1.Fault {
	chooses := func(f v1alpha1.Fault) int {
		if f.Target == v1alpha1.TargetReplica {
			return 1
		}
		return 0
	}
	return slices.SortedStableFunc(slices.Values(s.Spec), func(a, b v1alpha1.Fault) int {
		return cmp.Or(cmp.Compare(a.AtSeconds, b.AtSeconds), chooses(a)-chooses(b))
	})
}

// pending tells that nothing final is known yet of whether an entry's fault took effect.
func pending(e *v1alpha1.FaultStatus) bool {
	return e.State == v1alpha1.FaultPlanned || e.State == v1alpha1.FaultDeleting || e.State == v1alpha1.FaultInjected
}

// set is the only place where the state of an entry changes.
func set(e *v1alpha1.FaultStatus, state v1alpha1.FaultState, evidence string) {
	e.State, e.Evidence = state, evidence
	switch state {
	case v1alpha1.FaultConfirmed, v1alpha1.FaultReleased:
		e.Confirmed = metav1.ConditionTrue
	case v1alpha1.FaultUnconfirmed, v1alpha1.FaultEndedEarly, v1alpha1.FaultEndedLate:
		e.Confirmed = metav1.ConditionFalse
	default:
		e.Confirmed = metav1.ConditionUnknown
	}
	if !pending(e) {
		e.SilentTime = nil
	}
}

func unconfirmed(e *v1alpha1.FaultStatus, format string, args ...any) {
	set(e, v1alpha1.FaultUnconfirmed, fmt.Sprintf(format, args...))
}

// silent notes that somebody who is needed for an entry does not answer, and tells whether that has been so for too long. It counts
// from when an operator, who may be late himself, first found it.
func (s *Scene) silent(e *v1alpha1.FaultStatus) (tooLong bool) {
	if e.SilentTime == nil {
		now := metav1.NewMicroTime(s.Now())
		e.SilentTime = &now
	}
	return s.Now().Sub(e.SilentTime.Time) > agentPatience
}
