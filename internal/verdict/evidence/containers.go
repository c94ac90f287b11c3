package evidence

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
	"replab.dev/internal/provenance"
	"replab.dev/internal/timespan"
)

// Interrupted tells that a container ended or began in the midst of the load: how, and when by the recorder's clock.
func Interrupted(e Run, c provenance.Container) (how string, at Moment) {
	ended := ""
	if c.ExitCode != nil && midst(e, c.EndedAt) {
		ended, at = fmt.Sprintf("ended with exit code %d at %s", *c.ExitCode, second(c.EndedAt)), podMoment(e, c.Pod, c.EndedAt)
	}
	switch {
	case !midst(e, c.StartedAt):
		return ended, at
	case ended == "" && InNewPod(e, c):
		return "began in a new pod at " + second(c.StartedAt), podMoment(e, c.Pod, c.StartedAt)
	case ended == "":
		return "began at " + second(c.StartedAt), podMoment(e, c.Pod, c.StartedAt)
	}
	return ended + " and began again at " + second(c.StartedAt), at
}

// InNewPod tells whether a container's pod was created after those of the load: it took the place of another, since the load waits for all nodes, app
// and proxy. The API server's clock has both times.
func InNewPod(e Run, c provenance.Container) bool {
	load := loadCreated(e)
	return load != nil && c.PodCreatedAt != nil && c.PodCreatedAt.After(load.Time)
}

// loadCreated is when the first pod of the load was created, nil if none is known.
func loadCreated(e Run) (first *metav1.Time) {
	for _, c := range e.Provenance.Containers {
		if c.Component == kube.ComponentLoad && c.PodCreatedAt != nil && (first == nil || c.PodCreatedAt.Before(first)) {
			first = c.PodCreatedAt
		}
	}
	return first
}

// midst tells whether a moment lies within the load.
func midst(e Run, at *metav1.Time) bool {
	w := e.Recorder
	return at != nil && w != nil && w.LoadStartedAt != nil && w.LoadEndedAt != nil && at.After(w.LoadStartedAt.Time) && !at.After(w.LoadEndedAt.Time)
}

func second(at *metav1.Time) string { return at.UTC().Format(time.RFC3339) }

// podMoment is a time of a pod's containers, which is cut to whole seconds of its machine's clock. The pod's agent has the same clock.
func podMoment(e Run, pod string, at *metav1.Time) Moment {
	m := Moment{Earliest: at.Time, Latest: at.Time}
	if clock := ClockOf(e.Recorder, pod); clock != nil {
		m = Told(at.Time, *clock)
	}
	m.Latest = m.Latest.Add(time.Second)
	return m
}

// aftermath is how long after the end of a fault a topology may still answer it by ending servers or moving the writes.
const aftermath = 30 * time.Second

// MayCause tells whether something may have come of a fault by its time: after the fault began, and soon after its end. A fault of an unknown time
// may have caused anything.
func MayCause(e Run, f v1alpha1.FaultStatus, what Moment) bool {
	at, known := Injected(f)
	switch {
	case f.InjectedTime == nil:
		return false
	case !known:
		return true
	case what.Latest.Before(at.Earliest):
		return false
	}
	end := at.Latest
	if hold := PlannedOf(e.Spec, f).HoldSeconds; hold != 0 {
		if hold < 0 || f.ReleasedTime == nil {
			return true
		}
		end = timespan.Later(end, ReleasedMoment(e, f).Latest)
	}
	return !what.Earliest.After(end.Add(aftermath))
}
