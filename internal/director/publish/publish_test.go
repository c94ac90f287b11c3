package publish

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"replab.dev/internal/wire"
	"replab.dev/test/kubetest"
)

func TestMain(m *testing.M) { os.Exit(kubetest.Main(m)) }

const namespace = "default"

// stateMap makes an empty ConfigMap, as the plan does, and returns its client and name.
func stateMap(t *testing.T) (typedcorev1.ConfigMapInterface, string) {
	t.Helper()
	client := apiServer(t).ConfigMaps(namespace)
	made, err := client.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "state-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return client, made.Name
}

func apiServer(t *testing.T) *typedcorev1.CoreV1Client {
	t.Helper()
	client, err := typedcorev1.NewForConfig(kubetest.Config(t))
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func TestStateIsReadBack(t *testing.T) {
	client, name := stateMap(t)
	first := NewState(client, name)
	if s, err := first.Load(t.Context()); err != nil || s.Epoch != 0 {
		t.Fatalf("an empty ConfigMap was read as %+v, %v", s, err)
	}
	for epoch := int64(1); epoch <= 3; epoch++ {
		if err := first.Save(t.Context(), documentOf(t, epoch)); err != nil {
			t.Fatal(err)
		}
	}
	if s, err := NewState(client, name).Load(t.Context()); err != nil || s.Epoch != 3 || s.Primary != "node-0" {
		t.Errorf("read back %+v, %v", s, err)
	}
}

func TestStateThatAnotherWroteIsNotOverwritten(t *testing.T) {
	client, name := stateMap(t)
	one, two := NewState(client, name), NewState(client, name)
	for _, s := range []*State{one, two} {
		if _, err := s.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := one.Save(t.Context(), documentOf(t, 1)); err != nil {
		t.Fatal(err)
	}
	if err := two.Save(t.Context(), documentOf(t, 7)); !errors.Is(err, ErrChanged) {
		t.Fatalf("error is %v, want ErrChanged", err)
	}
	if s, err := two.Load(t.Context()); err != nil || s.Epoch != 1 {
		t.Errorf("read %+v, %v", s, err)
	}
	if err := two.Save(t.Context(), documentOf(t, 2)); err != nil {
		t.Errorf("after it was read anew: %v", err)
	}
}

func TestChangesBesideTheStateAreNoConflict(t *testing.T) {
	client, name := stateMap(t)
	s := NewState(client, name)
	if _, err := s.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	patch := []byte(`{"metadata":{"labels":{"by":"another"}},"data":{"other":"kept"}}`)
	if _, err := client.Patch(t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := s.Save(t.Context(), documentOf(t, 1)); err != nil {
		t.Fatal(err)
	}
	m, err := client.Get(t.Context(), name, metav1.GetOptions{})
	if err != nil || m.Data["other"] != "kept" || m.Labels["by"] != "another" {
		t.Errorf("the ConfigMap has %v, %v, %v", m.Data, m.Labels, err)
	}
}

func TestLoadWaitsForTheConfigMap(t *testing.T) {
	client := apiServer(t).ConfigMaps(namespace)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := NewState(client, "none").Load(ctx); err == nil {
		t.Error("a ConfigMap that does not exist was read")
	}
	late := make(chan error, 1)
	go func() {
		_, err := NewState(client, "late").Load(t.Context())
		late <- err
	}()
	if _, err := client.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "late"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := <-late; err != nil {
		t.Error(err)
	}
}

func documentOf(t *testing.T, epoch int64) string {
	t.Helper()
	text, err := json.Marshal(wire.DirectorState{Epoch: epoch, Primary: "node-0"})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestPodsCarryTheirNodesRoles(t *testing.T) {
	client := apiServer(t).Pods(namespace)
	for _, name := range []string{"node-0", "node-1"} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
		if _, err := client.Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	counted := &countingPods{Pods: client}
	l := NewLabels(counted)
	apply := func(first, second wire.Role) {
		t.Helper()
		l.Want(wire.DirectorState{Nodes: []wire.NodeView{
			{Name: "node-0", Role: first}, {Name: "node-1", Role: second}, {Name: "node-2", Role: wire.RoleDown}, // no such pod
		}})
		if err := l.apply(t.Context()); err != nil {
			t.Fatal(err)
		}
		for i, want := range []wire.Role{first, second} {
			pod, err := client.Get(t.Context(), []string{"node-0", "node-1"}[i], metav1.GetOptions{})
			if err != nil || pod.Labels[wire.RoleLabel] != string(want) {
				t.Errorf("node-%d has %v, want %s (%v)", i, pod.Labels, want, err)
			}
		}
	}
	apply(wire.RoleWriter, wire.RoleReader)
	before := len(counted.order)
	apply(wire.RoleWriter, wire.RoleReader)
	if len(counted.order) != before {
		t.Errorf("labels that stand were set again: %v", counted.order)
	}
	apply(wire.RoleDown, wire.RoleWriter)
	if last := counted.order[len(counted.order)-1]; last != "node-1" {
		t.Errorf("labelled in the order %v: the new primary must come last", counted.order)
	}
}

func TestNoPrimaryIsLabelledBesideAnother(t *testing.T) {
	refusing := &countingPods{refuse: "node-0"}
	l := NewLabels(refusing)
	l.Want(wire.DirectorState{Nodes: []wire.NodeView{{Name: "node-1", Role: wire.RoleWriter}, {Name: "node-0", Role: wire.RoleDown}}})
	if err := l.apply(t.Context()); err == nil {
		t.Error("no error although a pod could not be labelled")
	}
	if len(refusing.order) != 1 {
		t.Errorf("labelled %v: the old primary still has its label", refusing.order)
	}
}

// countingPods notes in which order pods are labelled, and may refuse one.
type countingPods struct {
	Pods
	order  []string
	refuse string
}

func (c *countingPods) Patch(ctx context.Context, name string, kind types.PatchType, data []byte, opts metav1.PatchOptions, sub ...string) (*corev1.Pod, error) {
	c.order = append(c.order, name)
	if name == c.refuse {
		return nil, errors.New("refused")
	}
	return c.Pods.Patch(ctx, name, kind, data, opts, sub...)
}
