package cluster

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
)

// large is a cluster of many machines and events, which counts what it hands out.
type large struct {
	machines []corev1.Node
	events   []corev1.Event
	pods     []corev1.Pod
	claims   []corev1.PersistentVolumeClaim
	read     int // machines
	most     int // objects at once
}

func (l *large) client() client.WithWatch {
	return interceptor.NewClient(nil, interceptor.Funcs{
		List: func(_ context.Context, _ client.WithWatch, into client.ObjectList, options ...client.ListOption) error {
			o := (&client.ListOptions{}).ApplyOptions(options)
			from, _ := strconv.Atoi(o.Continue)
			switch list := into.(type) {
			case *corev1.NodeList:
				list.Items, list.Continue = page(l.machines, from, o.Limit)
				l.read += len(list.Items)
				l.most = max(l.most, len(list.Items))
			case *corev1.EventList:
				list.Items, list.Continue = page(l.events, from, o.Limit)
				l.most = max(l.most, len(list.Items))
			case *corev1.PodList:
				list.Items, list.Continue = page(l.pods, from, o.Limit)
				l.most = max(l.most, len(list.Items))
			case *corev1.PersistentVolumeClaimList:
				list.Items, list.Continue = page(l.claims, from, o.Limit)
				l.most = max(l.most, len(list.Items))
			}
			return nil
		},
		Get: func(_ context.Context, _ client.WithWatch, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
			l.read++
			for _, m := range l.machines {
				if m.Name == key.Name {
					m.DeepCopyInto(into.(*corev1.Node))
					return nil
				}
			}
			return apierrors.NewNotFound(schema.GroupResource{Resource: "nodes"}, key.Name)
		},
	})
}

func page[T any](all []T, from int, limit int64) ([]T, string) {
	if limit == 0 || from+int(limit) >= len(all) {
		return all[from:], ""
	}
	return all[from : from+int(limit)], strconv.Itoa(from + int(limit))
}

// machinesOf are so many, those of the given numbers ready.
func machinesOf(n int, ready ...int) []corev1.Node {
	all := make([]corev1.Node, n)
	for i := range all {
		all[i].Name = fmt.Sprintf("machine-%d", i)
		status := corev1.ConditionFalse
		if slices.Contains(ready, i) {
			status = corev1.ConditionTrue
		}
		all[i].Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: status}}
	}
	return all
}

func TestSeveralMachinesReadsNoMoreThanItMust(t *testing.T) {
	for name, c := range map[string]struct {
		machines []corev1.Node
		want     bool
		read     int
	}{
		"none":              {nil, false, 0},
		"one":               {machinesOf(1, 0), false, 1},
		"two":               {machinesOf(2, 0, 1), true, 2},
		"two of many":       {machinesOf(5000, 0, 1), true, pageSize},
		"one ready of many": {machinesOf(1000, 999), false, 1000},
		"far apart":         {machinesOf(1000, 0, 350), true, 4 * pageSize},
	} {
		l := &large{machines: c.machines}
		several, err := SeveralMachines(t.Context(), l.client())
		if err != nil || several != c.want || l.read != c.read || l.most > pageSize {
			t.Errorf("%s: %t, %v after %d machines, at most %d at once; want %t after %d", name, several, err, l.read, l.most, c.want, c.read)
		}
	}
}

func TestMachinesThatAreSetApartTakeNoPods(t *testing.T) {
	all := machinesOf(4, 0, 1, 2, 3)
	all[0].Spec.Unschedulable = true
	all[1].Spec.Taints = []corev1.Taint{{Effect: corev1.TaintEffectNoSchedule}}
	all[2].Spec.Taints = []corev1.Taint{{Effect: corev1.TaintEffectPreferNoSchedule}}
	for n, want := range map[int]bool{3: false, 4: true} {
		if several, err := SeveralMachines(t.Context(), (&large{machines: all[:n]}).client()); err != nil || several != want {
			t.Errorf("of %d machines: %t, %v", n, several, err)
		}
	}
}

func TestMachinesAreReadByName(t *testing.T) {
	l := &large{machines: machinesOf(300)}
	found, err := (&Cluster{Client: l.client()}).Machines(t.Context(), []string{"machine-7", "gone", "machine-299"})
	if err != nil || len(found) != 2 || found[0].Name != "machine-7" || found[1].Name != "machine-299" || l.read != 3 {
		t.Errorf("%d machines, %v, after %d requests", len(found), err, l.read)
	}
}

func TestRefusalsAreReadInPages(t *testing.T) {
	began := metav1.Now()
	x := &v1alpha1.ReplicationExperiment{ObjectMeta: metav1.ObjectMeta{Name: "x", CreationTimestamp: began}}
	l := &large{events: make([]corev1.Event, 950)}
	for i, since := range map[int]time.Duration{0: 0, 500: time.Second, 949: time.Hour, 7: -time.Second} { // of the last before, another experiment's
		l.events[i].InvolvedObject.Name = "x-db"
		l.events[i].CreationTimestamp = metav1.NewTime(began.Add(since))
	}
	found, err := (&Cluster{Client: l.client()}).Refusals(t.Context(), x)
	if err != nil || len(found) != 3 || l.most > pageSize {
		t.Errorf("%d events, %v, at most %d at once", len(found), err, l.most)
	}
}

// TestFatPodsAreNotKept: what anybody labels as the experiment's must not fill the operator's memory.
func TestFatPodsAreNotKept(t *testing.T) {
	x := &v1alpha1.ReplicationExperiment{ObjectMeta: metav1.ObjectMeta{Name: "x"}}
	fat := strings.Repeat("x", 1<<20)
	l := &large{pods: make([]corev1.Pod, 60), claims: make([]corev1.PersistentVolumeClaim, 60)}
	for i := range l.pods {
		p := &l.pods[i]
		p.Name, p.Labels = fmt.Sprint("x-", i), map[string]string{kube.LabelComponent: kube.ComponentNode}
		p.Spec.Containers = []corev1.Container{{Name: "a", Image: "b", Env: []corev1.EnvVar{{Name: "A", Value: fat}}}}
		p.Status.PodIP, p.Annotations = "10.0.0.1", map[string]string{"a": fat}
		l.claims[i].Name, l.claims[i].Annotations = p.Name, p.Annotations
	}
	l.pods[7].Labels["a"] = fat
	l.pods[8].Status.Message = fat
	c := &Cluster{Client: l.client()}
	pods, err := c.Pods(t.Context(), x)
	if err != nil || len(pods) != 60 || l.most > fatPageSize {
		t.Fatalf("%d pods, %v, at most %d at once", len(pods), err, l.most)
	}
	for i, p := range pods {
		if size := p.Size(); size > essenceMost || p.Name != l.pods[i].Name || p.Labels[kube.LabelComponent] != kube.ComponentNode {
			t.Errorf("pod %s is kept with %d bytes", p.Name, size)
		}
	}
	if p := pods[0]; p.Status.PodIP == "" || p.Spec.Containers[0].Name != "a" || p.Spec.Containers[0].Image != "b" {
		t.Errorf("%+v", p)
	}
	claims, err := c.Claims(t.Context(), x)
	if err != nil || len(claims) != 60 || claims[0].Size() > essenceMost || l.most > fatPageSize {
		t.Errorf("%d claims, %v, at most %d at once", len(claims), err, l.most)
	}
}

func TestTheLastEventIsReadInPages(t *testing.T) {
	l := &large{events: make([]corev1.Event, 950)}
	l.events[500].Name, l.events[500].CreationTimestamp = "newest", metav1.Now()
	last, err := (&Cluster{Client: l.client()}).LastEvent(t.Context(), &corev1.Pod{})
	if err != nil || last == nil || last.Name != "newest" || l.most > pageSize {
		t.Errorf("%v, %v, at most %d at once", last, err, l.most)
	}
}
