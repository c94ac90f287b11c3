package experiment

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
	"replab.dev/internal/plan"
	"replab.dev/internal/topology"
	"replab.dev/internal/topology/registry"
	"replab.dev/internal/wire"
)

// observed are the objects of an experiment that a pass looks at.
type observed interface {
	// Get reads an object into obj and tells whether it exists.
	Get(ctx context.Context, obj client.Object) (bool, error)
	lists
}

// lists of an experiment's objects.
type lists interface {
	Pods(ctx context.Context, x *v1alpha1.ReplicationExperiment) ([]corev1.Pod, error)
	Claims(ctx context.Context, x *v1alpha1.ReplicationExperiment) ([]corev1.PersistentVolumeClaim, error)
	// Refusals are the newest events that say why an object of the experiment could not make its pods.
	Refusals(ctx context.Context, x *v1alpha1.ReplicationExperiment) ([]corev1.Event, error)
}

// asked are the processes of an experiment that a pass asks how they are.
type asked interface {
	// Ask answers a topology's questions; what went wrong is in the answers.
	Ask(ctx context.Context, questions []topology.Question) topology.Answers
	// Recorder reads the recorder's state.
	Recorder(ctx context.Context, url string) (wire.RecorderState, error)
}

// Snapshot is the world as one pass sees it. Each part is read when a step first needs it, and then not again: what is decided on is
// one picture, and what is done comes after it.
type Snapshot struct {
	x         *v1alpha1.ReplicationExperiment
	input     *plan.Input
	cluster   observed
	processes asked
	now       func() time.Time

	pods     part[[]corev1.Pod]
	claims   part[[]corev1.PersistentVolumeClaim]
	refusals part[[]corev1.Event]
	objects  map[string]*part[client.Object]
	state    part[topology.State]
	recorder part[wire.RecorderState]
	token    part[string]
	clock    *v1alpha1.ClockStatus
}

// part is something that is read at most once.
type part[T any] struct {
	read  bool
	value T
	err   error
}

func (p *part[T]) get(read func() (T, error)) (T, error) {
	if !p.read {
		p.value, p.err = read()
		p.read = true
	}
	return p.value, p.err
}

// Pods of the experiment.
func (s *Snapshot) Pods(ctx context.Context) ([]corev1.Pod, error) {
	return s.pods.get(func() ([]corev1.Pod, error) { return s.cluster.Pods(ctx, s.x) })
}

// Claims of the experiment.
func (s *Snapshot) Claims(ctx context.Context) ([]corev1.PersistentVolumeClaim, error) {
	return s.claims.get(func() ([]corev1.PersistentVolumeClaim, error) { return s.cluster.Claims(ctx, s.x) })
}

// Refusals are the newest events that say why an object of the experiment could not make its pods.
func (s *Snapshot) Refusals(ctx context.Context) ([]corev1.Event, error) {
	return s.refusals.get(func() ([]corev1.Event, error) { return s.cluster.Refusals(ctx, s.x) })
}

// Object that was planned as it is, nil when it does not exist.
func (s *Snapshot) Object(ctx context.Context, planned client.Object) (client.Object, error) {
	key := fmt.Sprintf("%T/%s", planned, planned.GetName())
	if s.objects == nil {
		s.objects = map[string]*part[client.Object]{}
	}
	if s.objects[key] == nil {
		s.objects[key] = &part[client.Object]{}
	}
	return s.objects[key].get(func() (client.Object, error) {
		o := empty(planned)
		found, err := s.cluster.Get(ctx, o)
		if err != nil || !found {
			return nil, err
		}
		return o, nil
	})
}

// empty returns an object of the same kind and name, to read into.
func empty(of client.Object) client.Object {
	o := reflect.New(reflect.TypeOf(of).Elem()).Interface().(client.Object)
	if u, ok := o.(*unstructured.Unstructured); ok {
		u.SetGroupVersionKind(of.GetObjectKind().GroupVersionKind())
	}
	o.SetNamespace(of.GetNamespace())
	o.SetName(of.GetName())
	return o
}

// State of the topology by its own account.
func (s *Snapshot) State(ctx context.Context) (topology.State, error) {
	return s.state.get(func() (topology.State, error) {
		driver, err := registry.For(s.x.Spec.Topology)
		if err != nil {
			return topology.State{}, err
		}
		params := plan.Params(*s.input)
		return driver.Assess(params, s.processes.Ask(ctx, driver.Questions(params))), nil
	})
}

// Recorder is the state of the recorder; an error says that it does not answer.
func (s *Snapshot) Recorder(ctx context.Context) (wire.RecorderState, error) {
	return s.recorder.get(func() (wire.RecorderState, error) { return s.askRecorder(ctx) })
}

func (s *Snapshot) askRecorder(ctx context.Context) (wire.RecorderState, error) {
	asked := s.now()
	state, err := s.processes.Recorder(ctx, plan.RecorderURL(*s.input))
	answered := s.now()
	if err == nil && state.Now != nil {
		s.clock = &v1alpha1.ClockStatus{
			LeastAheadMicroseconds: asked.Sub(state.Now.Time).Microseconds() - 1, // rounded outwards
			MostAheadMicroseconds:  answered.Sub(state.Now.Time).Microseconds() + 1,
		}
	}
	return state, err
}

// Clock is this operator's against the recorder's. Where that did not answer a moment ago it is asked once more, since without
// its time nobody can tell when the operator did something; nil when it still does not.
func (s *Snapshot) Clock(ctx context.Context) *v1alpha1.ClockStatus {
	if s.clock == nil {
		_, _ = s.askRecorder(ctx) // the verdict says what is missing for it
	}
	return s.clock
}

var errNoSecret = errors.New("the experiment's Secret is gone")

// Token that the experiment's processes want to see before they act.
func (s *Snapshot) Token(ctx context.Context) (string, error) {
	return s.token.get(func() (string, error) {
		secret := &corev1.Secret{}
		secret.Namespace, secret.Name = s.x.Namespace, kube.SecretName(s.x.Name)
		found, err := s.cluster.Get(ctx, secret)
		if err != nil {
			return "", err
		}
		if !found {
			return "", fmt.Errorf("%w: %s", errNoSecret, secret.Name)
		}
		return string(secret.Data[wire.AgentTokenFile]), nil
	})
}
