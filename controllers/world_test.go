package controllers

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
	"replab.dev/internal/plan"
	"replab.dev/internal/protocol"
	"replab.dev/internal/topology"
)

// world plays the cluster and the processes of one semi-synchronous experiment on a clock of its own. It counts what
// must not be repeated. Every write may be the operator's last: see crashAt.
type world struct {
	t       *testing.T
	now     time.Time
	x       string
	objects map[string]client.Object
	born    map[string]time.Time
	pods    map[string]*corev1.Pod

	faults     map[string]*protocol.FaultRecord // the agents' notes
	kills      int
	loads      int
	finished   bool
	rejoinedAt time.Time
	deletedAt  time.Time
	away       time.Duration // how long there is no operator after a stop
	stuck      bool          // a replica stops applying at the fault, for good

	// crashAt is the number of the write after which the operator is gone, 0 for never.
	crashAt, writes int
	log             []string
}

// crash is what ends an operator.
type crash struct{ write string }

const (
	loadDelay   = 2 * time.Second
	loadSeconds = 40
)

func newWorld(t *testing.T, x *v1alpha1.ReplicationExperiment, crashAt int) *world {
	return &world{
		t: t, now: time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC), x: x.Name, objects: map[string]client.Object{}, born: map[string]time.Time{},
		pods: map[string]*corev1.Pod{}, faults: map[string]*protocol.FaultRecord{}, crashAt: crashAt, away: 3 * time.Second,
	}
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
	if m, ok := o.(*corev1.Secret); ok {
		m := m.DeepCopy()
		m.Data = map[string][]byte{protocol.AgentTokenFile: []byte(m.StringData[protocol.AgentTokenFile])}
		w.objects[k] = m
	}
}

func (w *world) Apply(_ context.Context, _ *v1alpha1.ReplicationExperiment, o client.Object) error {
	w.put(o)
	w.wrote("apply " + key(o))
	return nil
}

func (w *world) Create(_ context.Context, _ *v1alpha1.ReplicationExperiment, o client.Object) error {
	if _, ok := w.objects[key(o)]; ok {
		return nil
	}
	if strings.Contains(o.GetName(), "-load-") {
		w.loads++
	}
	w.put(o)
	w.wrote("create " + key(o))
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
		if w.now.Sub(w.born[key(o)]) >= w.jobLength(o.Name) {
			o.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}
		}
		return true, nil
	case *corev1.ConfigMap:
		w.results(o)
		return true, nil
	case *corev1.Secret:
		found, ok := w.objects[key(o)]
		if ok {
			found.(*corev1.Secret).DeepCopyInto(o)
		}
		return ok, nil
	}
	return false, fmt.Errorf("the world has no %T", o)
}

func (w *world) jobLength(name string) time.Duration {
	if strings.Contains(name, "-load-") {
		return loadDelay + loadSeconds*time.Second
	}
	return 2 * time.Second
}

func (w *world) nodePods() []corev1.Pod {
	var pods []corev1.Pod
	if _, ok := w.objects["*v1.StatefulSet/"+w.x+"-db"]; !ok {
		return nil
	}
	for i := range 3 {
		pods = append(pods, readyPod(fmt.Sprintf("%s-db-%d", w.x, i), topology.ComponentNode))
		if i == 0 && !w.deletedAt.IsZero() && w.now.Sub(w.deletedAt) > 2*time.Second {
			pods[0].UID += "-next"
		}
	}
	return pods
}

func (w *world) Pods(context.Context, *v1alpha1.ReplicationExperiment) ([]corev1.Pod, error) {
	pods := w.nodePods()
	if len(pods) == 0 {
		return nil, nil
	}
	for _, c := range []string{"director", "proxy", "social", "witness"} {
		pods = append(pods, readyPod(w.x+"-"+c, c))
	}
	if load := w.x + "-load-0"; w.loads > 0 {
		p := readyPod(load, "load")
		p.Labels[batchv1.JobNameLabel] = load
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			Message: `{"v":1,"requests":3000,"failed":0,"registered":1000,"registeredKnown":true,"dropped":0}`,
		}}}}
		pods = append(pods, p)
	}
	return pods, nil
}

func readyPod(name, component string) corev1.Pod {
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", UID: types.UID("uid-" + name), Labels: map[string]string{kube.LabelComponent: component}},
		Status:     corev1.PodStatus{PodIP: "10.0.0.1", Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
	}
}

func (w *world) Claims(context.Context, *v1alpha1.ReplicationExperiment) ([]corev1.PersistentVolumeClaim, error) {
	return nil, nil
}

func (w *world) Refusals(context.Context, *v1alpha1.ReplicationExperiment) ([]corev1.Event, error) {
	return nil, nil
}

// DeletePod takes two seconds; the pod that follows has another UID.
func (w *world) DeletePod(_ context.Context, key types.NamespacedName, uid types.UID, _ *int64) error {
	if want := types.UID("uid-" + w.x + "-db-0"); uid != want {
		w.t.Errorf("pod %s is deleted with UID %s", key.Name, uid)
	}
	if w.deletedAt.IsZero() {
		w.deletedAt = w.now
		w.faults["crash"] = &protocol.FaultRecord{FaultRequest: protocol.FaultRequest{Name: "crash", HoldMilliseconds: 10_000}, InjectedAt: ptr.To(metav1.NewMicroTime(w.now))}
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

// Ask answers for the director: a failover takes 3 s from the kill, the old primary comes back when its hold ends.
func (w *world) Ask(context.Context, []topology.Question) topology.Answers {
	name := func(i int) string { return fmt.Sprintf("%s-db-%d", w.x, i) }
	s := protocol.DirectorState{Epoch: 1, Primary: name(0), Opened: true, Configured: true, Nodes: []protocol.DirectedNode{
		{Name: name(0), Role: protocol.RolePrimary}, {Name: name(1), Role: protocol.RoleReplica, CaughtUp: true}, {Name: name(2), Role: protocol.RoleReplica, CaughtUp: true},
	}}
	if f, ok := w.faults["crash"]; ok {
		since := w.now.Sub(f.InjectedAt.Time)
		s.Nodes[0] = protocol.DirectedNode{Name: name(0), Role: protocol.RoleDown, Why: "killed"}
		if since > 3*time.Second {
			s.Epoch, s.Primary, s.Nodes[1].Role = 2, name(1), protocol.RolePrimary
			at := metav1.NewMicroTime(f.InjectedAt.Add(3 * time.Second))
			s.Failovers = []protocol.DirectedFailover{{OldPrimary: name(0), NewPrimary: name(1), DetectedAt: metav1.NewMicroTime(f.InjectedAt.Add(time.Second)), PromotedAt: &at}}
		}
		if since > time.Duration(f.HoldMilliseconds)*time.Millisecond {
			s.Nodes[0].Role = protocol.RoleIsolated
		}
		if !w.rejoinedAt.IsZero() {
			s.Nodes[0].Role, s.Nodes[0].CaughtUp, s.Nodes[0].Rejoin = protocol.RoleReplica, true, protocol.RejoinDone
		}
	}
	if w.stuck && w.kills > 0 {
		s.Nodes[2].CaughtUp, s.Nodes[2].Why = false, "its applier has stopped"
	}
	body, _ := json.Marshal(s)
	return topology.Answers{"director": {Body: body}}
}

func (w *world) Send(_ context.Context, token string, r topology.Request) ([]byte, error) {
	if token == "" || !strings.HasSuffix(r.URL, protocol.DirectorPathRejoin) {
		w.t.Errorf("request %s with token %q", r.URL, token)
	}
	w.rejoinedAt = w.now
	w.wrote("rejoin")
	return nil, nil
}

func (w *world) Fault(_ context.Context, _, _ string, r protocol.FaultRequest) (protocol.FaultRecord, error) {
	if f, ok := w.faults[r.Name]; ok {
		return *f, nil
	}
	if r.PodUID != "uid-"+w.x+"-db-0" {
		w.t.Errorf("fault %s hits pod UID %s", r.Name, r.PodUID)
	}
	w.kills++
	w.faults[r.Name] = &protocol.FaultRecord{FaultRequest: r, InjectedAt: ptr.To(metav1.NewMicroTime(w.now)), Confirmed: true, Evidence: "process gone"}
	w.wrote("kill")
	return *w.faults[r.Name], nil
}

func (w *world) FaultState(_ context.Context, _, name string) (protocol.FaultRecord, error) {
	known, ok := w.faults[name]
	if !ok {
		return protocol.FaultRecord{}, fmt.Errorf("404: no fault %s", name)
	}
	f := *known
	f.ReleasedAt = ptr.To(metav1.NewMicroTime(f.InjectedAt.Add(time.Duration(f.HoldMilliseconds) * time.Millisecond)))
	return f, nil
}

func (w *world) Release(context.Context, string, string, string) (protocol.FaultRecord, error) {
	return protocol.FaultRecord{}, fmt.Errorf("no fault of this experiment is held until the audit")
}

func (w *world) Witness(context.Context, string) (protocol.WitnessState, error) {
	var s protocol.WitnessState
	if born, ok := w.born["*v1.Job/"+w.x+"-load-0"]; ok && w.now.Sub(born) >= loadDelay {
		s.LoadStartedAt = ptr.To(metav1.NewMicroTime(born.Add(loadDelay)))
	}
	return s, nil
}

func (w *world) FinishWitness(context.Context, string, string) error {
	w.finished = true
	w.wrote("finish")
	return nil
}

// results are what the instruments leave behind.
func (w *world) results(m *corev1.ConfigMap) {
	counts := protocol.LedgerCounts{Sent: 1000, Acknowledged: 1000}
	switch {
	case m.Name == plan.WitnessStateName(w.x) && w.finished:
		text, _ := json.Marshal(protocol.WitnessResults{Writes: counts, Load: protocol.StageResult{Requests: 3000, DurationMicroseconds: 40_000_000}})
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write(text)
		_ = z.Close()
		m.BinaryData = map[string][]byte{protocol.WitnessResultsKey: b.Bytes()}
	case m.Name == plan.AuditStateName(w.x):
		text, _ := json.Marshal(protocol.AuditResult{Writes: &protocol.WriteSets{LedgerCounts: counts, Present: 1000, Balanced: true}, Nodes: []protocol.AuditedNode{
			{Name: w.x + "-db-0", Role: protocol.RoleIsolated, Extra: ptr.To[int64](1), ExtraProbeWrites: ptr.To[int64](0), GhostTransactions: ptr.To[int64](1)},
			{Name: w.x + "-db-1", Role: protocol.RolePrimary},
			{Name: w.x + "-db-2", Role: protocol.RoleReplica, Extra: ptr.To[int64](0), ExtraProbeWrites: ptr.To[int64](0)},
		}})
		m.Data = map[string]string{protocol.AuditResultKey: string(text)}
	}
}
