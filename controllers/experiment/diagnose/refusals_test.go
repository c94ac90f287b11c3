package diagnose

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
)

// TestPodsThatTheAPIServerRefusesEndTheRun: those of objects of the plan, once they were refused for a while, and while they still are.
func TestPodsThatTheAPIServerRefusesEndTheRun(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	const why = `pods "x-db-0" is forbidden: violates PodSecurity "restricted:latest"`
	event := func(kind, name string, first, last time.Duration) corev1.Event {
		return corev1.Event{
			InvolvedObject: corev1.ObjectReference{Kind: kind, Name: name}, Message: why,
			FirstTimestamp: metav1.NewTime(now.Add(-first)), LastTimestamp: metav1.NewTime(now.Add(-last)),
		}
	}
	for name, c := range map[string]struct {
		event corev1.Event
		ends  bool
	}{
		"of nodes":                              {event("StatefulSet", "x-db", RefusedAfter+time.Second, time.Second), true},
		"of a ReplicaSet":                       {event("ReplicaSet", "x-proxy-5d4", RefusedAfter+time.Second, time.Second), true},
		"just begun":                            {event("StatefulSet", "x-db", time.Second, time.Second), false},
		"over since":                            {event("StatefulSet", "x-db", time.Hour, refusedStill+time.Second), false},
		"of a ReplicaSet of experiment x-proxy": {event("ReplicaSet", "x-proxy-social-5d4", RefusedAfter+time.Second, time.Second), false},
		"of another experiment":                 {event("StatefulSet", "x-db-db", RefusedAfter+time.Second, time.Second), false},
	} {
		out := refusals(&Scene{Now: now, Controllers: []string{"x-db", "x-proxy"}, Refusals: []corev1.Event{c.event}})
		if out.Terminal != c.ends || c.ends && (out.Reason != v1alpha1.ReasonObjectRefused || !strings.Contains(out.Message, why)) {
			t.Errorf("%s: %+v, want an end: %v", name, out, c.ends)
		}
	}
}
