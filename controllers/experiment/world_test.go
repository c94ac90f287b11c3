package experiment

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
	"replab.dev/internal/wire"
)

// world plays the cluster and the processes of one semi-synchronous experiment on a clock of its own. It counts what
// must not be repeated. Every write may be the operator's last: see crashAt.
type world struct {
	t       *testing.T
	now     time.Time
	x       string
	load    time.Duration
	stages  []v1alpha1.Stage
	objects map[string]client.Object
	born    map[string]time.Time
	// documents are what stays when the other objects are removed.
	documents map[string]*corev1.ConfigMap

	links          map[string]wire.LinksState // the agents', by their pods' addresses
	tripOff        int64                      // microseconds that each round trip is longer than it should be
	restartsAt     time.Duration              // after the load began, all agents are started anew; 0 for never
	droppedPackets int64                      // by each of them
	alter          func(*corev1.Pod)          // changes the second node's pod
	relabelled     bool                       // the second node's pod has another experiment's label
	undelayed      time.Duration              // for how much longer a pod that comes into another's place has run before it is seen

	faults     map[string]*wire.FaultRecord // the agents' notes
	kills      int                          // of servers, and what else was done to them
	begun      map[string]time.Time         // the k6 pods that were told to begin, by their addresses
	finished   bool
	rejoinedAt time.Time
	deletedAt  time.Time
	away       time.Duration // how long there is no operator after a stop
	stuck      bool          // a replica stops applying at the fault, for good
	disturbed  bool          // somebody else writes to the experiment in between
	ahead      time.Duration // of the recorder's clock, which the operator's is
	space      time.Duration // after the start of the load that the recorder's volume is full; 0 for never

	// upgrade changes the configuration of the operator from the write upgradeAt on.
	upgrade   func(*wire.OperatorConfig)
	upgradeAt int
	orphans   int // pods and claims of a deleted experiment
	sweptOf   *v1alpha1.ReplicationExperiment
	deleted   []string // objects that the operator deleted by name

	// crashAt is the number of the write after which the operator is gone, 0 for never.
	crashAt, writes int
	log             []string
}

// crash is what ends an operator.
type crash struct{ write string }

const (
	loadDelay   = 2 * time.Second        // until a k6 is ready to begin
	settleDelay = 300 * time.Millisecond // until an agent has seen the effect of a fault
)

func newWorld(t *testing.T, x *v1alpha1.ReplicationExperiment) *world {
	var load time.Duration
	for _, s := range x.Spec.Load.Stages {
		load += time.Duration(s.DurationSeconds) * time.Second
	}
	return &world{
		load: load, stages: x.Spec.Load.Stages, t: t, now: time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC), x: x.Name, objects: map[string]client.Object{}, born: map[string]time.Time{},
		documents: map[string]*corev1.ConfigMap{}, faults: map[string]*wire.FaultRecord{}, links: map[string]wire.LinksState{}, begun: map[string]time.Time{}, away: 3 * time.Second,
	}
}

// copy is a world of its own that is as this one is now.
func (w *world) copy(t *testing.T) *world {
	c := *w
	c.t = t
	c.objects = map[string]client.Object{}
	for k, o := range w.objects {
		c.objects[k] = o.DeepCopyObject().(client.Object)
	}
	c.documents = map[string]*corev1.ConfigMap{}
	for k, m := range w.documents {
		c.documents[k] = m.DeepCopy()
	}
	c.faults = map[string]*wire.FaultRecord{}
	for k, f := range w.faults {
		record := *f
		c.faults[k] = &record
	}
	c.born, c.begun, c.links = maps.Clone(w.born), maps.Clone(w.begun), maps.Clone(w.links)
	c.deleted, c.log = slices.Clone(w.deleted), slices.Clone(w.log)
	return &c
}

// wrote counts a write that has taken effect, and ends the operator when its time has come.
func (w *world) wrote(what string) {
	w.writes++
	w.log = append(w.log, what)
	if w.writes == w.crashAt {
		panic(crash{what})
	}
}

func key(o client.Object) string { return fmt.Sprintf("%T/%s", o, o.GetName()) }

func (w *world) put(o client.Object) {
	k := key(o)
	if _, ok := w.objects[k]; !ok {
		w.born[k] = w.now
	}
	w.objects[k] = o.DeepCopyObject().(client.Object)
	if m, ok := o.(*corev1.ConfigMap); ok && m.Labels[kube.LabelComponent] == kube.ComponentResults {
		w.documents[m.Name] = m
	}
	if m, ok := o.(*corev1.Secret); ok {
		m := m.DeepCopy()
		m.Data = map[string][]byte{wire.AgentTokenFile: []byte(m.StringData[wire.AgentTokenFile])}
		w.objects[k] = m
	}
}

func (w *world) Try(context.Context, *v1alpha1.ReplicationExperiment, client.Object) error {
	return nil
}

func (w *world) Apply(_ context.Context, _ *v1alpha1.ReplicationExperiment, o client.Object) error {
	w.put(o)
	w.wrote("apply " + key(o))
	return nil
}

// Create leaves alone what is somebody else's, as package cluster does.
func (w *world) Create(_ context.Context, owner *v1alpha1.ReplicationExperiment, o client.Object) error {
	if found, ok := w.objects[key(o)]; ok && !metav1.IsControlledBy(found, owner) {
		return apierrors.NewBadRequest(key(o) + " does not belong to experiment " + owner.Name)
	} else if ok {
		return nil
	}
	o = o.DeepCopyObject().(client.Object)
	o.SetOwnerReferences([]metav1.OwnerReference{controlledBy(owner)})
	w.put(o)
	w.wrote("create " + key(o))
	return nil
}

// controlledBy refers to an experiment as the owner of an object.
func controlledBy(x *v1alpha1.ReplicationExperiment) metav1.OwnerReference {
	return *metav1.NewControllerRef(x, v1alpha1.GroupVersion.WithKind("ReplicationExperiment"))
}

// made tells whether a Job of this suffix was made.
func (w *world) made(suffix string) bool {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: w.x + suffix}}
	_, ok := w.objects[key(job)]
	return ok
}

func (w *world) Note(context.Context, *v1alpha1.ReplicationExperiment) error { return nil }

func (w *world) RemoveOrphans(_ context.Context, x *v1alpha1.ReplicationExperiment) (int, error) {
	w.sweptOf = x
	return w.orphans, nil
}

func (w *world) Delete(_ context.Context, o client.Object) error {
	w.deleted = append(w.deleted, o.GetName())
	return nil
}

func (w *world) Update(_ context.Context, o client.Object) error {
	w.put(o)
	w.wrote("update " + key(o))
	return nil
}

func (w *world) Get(_ context.Context, o client.Object) (bool, error) {
	switch o := o.(type) {
	case *corev1.Pod:
		for _, p := range w.nodePods() {
			if p.Name == o.Name {
				p.DeepCopyInto(o)
				return true, nil
			}
		}
		return false, nil
	case *batchv1.Job:
		found, ok := w.objects[key(o)]
		if !ok {
			return false, nil
		}
		found.(*batchv1.Job).DeepCopyInto(o)
		if w.jobOver(o) {
			o.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}
		}
		return true, nil
	case *corev1.ConfigMap:
		if found, ok := w.objects[key(o)].(*corev1.ConfigMap); ok {
			found.DeepCopyInto(o)
		}
		w.results(o)
		return true, nil
	case *coordinationv1.Lease:
		found, ok := w.objects[key(o)]
		if ok {
			found.(*coordinationv1.Lease).DeepCopyInto(o)
		}
		return ok, nil
	case *corev1.Secret:
		found, ok := w.objects[key(o)]
		if ok {
			found.(*corev1.Secret).DeepCopyInto(o)
		}
		return ok, nil
	}
	return false, fmt.Errorf("the world has no %T", o)
}

func (w *world) jobOver(job *batchv1.Job) bool {
	if !strings.Contains(job.Name, "-load-") {
		return w.now.Sub(w.born[key(job)]) >= 2*time.Second
	}
	began, ok := w.begun[loadIP(job.Name)]
	return ok && w.now.Sub(began) >= w.load
}

func (w *world) Claims(context.Context, *v1alpha1.ReplicationExperiment) ([]corev1.PersistentVolumeClaim, error) {
	return nil, nil
}

func (w *world) Refusals(context.Context, *v1alpha1.ReplicationExperiment) ([]corev1.Event, error) {
	return nil, nil
}

func (w *world) LastEvent(context.Context, client.Object) (*corev1.Event, error) { return nil, nil }

// DeletePod takes two seconds; the pod that follows has another UID.
func (w *world) DeletePod(_ context.Context, key types.NamespacedName, uid types.UID, _ *int64) error {
	if want := types.UID("uid-" + w.x + "-db-0"); uid != want {
		w.t.Errorf("pod %s is deleted with UID %s", key.Name, uid)
	}
	if w.deletedAt.IsZero() {
		w.deletedAt = w.now
		w.faults["crash"] = &wire.FaultRecord{FaultRequest: wire.FaultRequest{Name: "crash", HoldMilliseconds: 10_000}, InjectedAt: ptr.To(metav1.NewMicroTime(w.now))}
	}
	w.kills++
	w.wrote("delete pod")
	return nil
}

func (w *world) Remove(context.Context, *v1alpha1.ReplicationExperiment) (int, error) {
	n := len(w.objects)
	clear(w.objects)
	w.wrote("remove")
	return n, nil
}

func (w *world) RemoveLoad(context.Context, *v1alpha1.ReplicationExperiment) error { return nil }

func (w *world) LogTail(context.Context, *corev1.Pod, string, bool) string { return "log" }

func (w *world) Machines(context.Context, []string) ([]corev1.Node, error) { return nil, nil }
