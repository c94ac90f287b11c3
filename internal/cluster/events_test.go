package cluster

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// TestLastEvent finds the newest in each way of telling the time of an event.
func TestLastEvent(t *testing.T) {
	began := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	at := func(seconds int) time.Time { return began.Add(time.Duration(seconds) * time.Second) }
	event := func(name, uid string, change func(*corev1.Event)) *corev1.Event {
		e := &corev1.Event{
			ObjectMeta:     metav1.ObjectMeta{Name: name, Namespace: "default", CreationTimestamp: metav1.NewTime(began)},
			InvolvedObject: corev1.ObjectReference{UID: types.UID(uid)},
		}
		change(e)
		return e
	}
	counted := event("counted", "a", func(e *corev1.Event) {
		e.FirstTimestamp, e.LastTimestamp = metav1.NewTime(at(0)), metav1.NewTime(at(50))
	})
	series := event("series", "a", func(e *corev1.Event) {
		e.EventTime, e.Series = metav1.NewMicroTime(at(10)), &corev1.EventSeries{LastObservedTime: metav1.NewMicroTime(at(60))}
	})
	single := event("single", "a", func(e *corev1.Event) { e.EventTime = metav1.NewMicroTime(at(70)) })
	other := event("other", "b", func(e *corev1.Event) { e.LastTimestamp = metav1.NewTime(at(99)) })
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "pod", Namespace: "default", UID: "a"}}
	for _, c := range []struct {
		name   string
		events []client.Object
		want   string
	}{
		{"none", []client.Object{other}, ""},
		{"one that was counted up", []client.Object{other, event("old", "a", func(e *corev1.Event) { e.LastTimestamp = metav1.NewTime(at(40)) }), counted}, "counted"},
		{"one of a series", []client.Object{series, counted}, "series"},
		{"one of the newer kind", []client.Object{single, series, counted}, "single"},
	} {
		t.Run(c.name, func(t *testing.T) {
			api := fake.NewClientBuilder().WithObjects(c.events...).WithIndex(&corev1.Event{}, "involvedObject.uid", func(o client.Object) []string {
				return []string{string(o.(*corev1.Event).InvolvedObject.UID)}
			}).Build()
			got, err := (&Cluster{Client: api}).LastEvent(t.Context(), pod)
			if err != nil {
				t.Fatal(err)
			}
			name := ""
			if got != nil {
				name = got.Name
			}
			if name != c.want {
				t.Errorf("the newest event is %q, want %q", name, c.want)
			}
		})
	}
}
