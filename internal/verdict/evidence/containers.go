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
	if c.ExitCode != nil && midst(e, c, c.EndedAt) {
		ended, at = fmt.Sprintf("ended with exit code %d at %s", *c.ExitCode, second(c.EndedAt)), moment(e, c, c.EndedAt)
	}
	switch {
	case !midst(e, c, c.StartedAt):
		return ended, at
	case ended == "" && InNewPod(e, c):
		return "began in a new pod at " + second(c.StartedAt), moment(e, c, c.StartedAt)
	case ended == "":
		return "began at " + second(c.StartedAt), moment(e, c, c.StartedAt)
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

// midst tells whether a time of a container lies within the load, or may.
func midst(e Run, c provenance.Container, at *metav1.Time) bool {
	w := e.Recorder
	if at == nil || w == nil || w.LoadStartedAt == nil || w.LoadEndedAt == nil {
		return false
	}
	by := told(e, c, at)
	return by.Latest.After(w.LoadStartedAt.Time) && !by.Earliest.After(w.LoadEndedAt.Time)
}

func second(at *metav1.Time) string { return at.UTC().Format(time.RFC3339) }

// moment is a time of a container, which the kubelet cuts to whole seconds.
func moment(e Run, c provenance.Container, at *metav1.Time) Moment {
	m := told(e, c, at)
	m.Latest = m.Latest.Add(time.Second)
	return m
}

// told converts a time of a container, which is by its machine's clock. All agents of a machine have it, the pod's own or another.
func told(e Run, c provenance.Container, at *metav1.Time) Moment {
	clock := ClockOf(e.Recorder, c.Pod)
	for _, other := range e.Provenance.Containers {
		if clock == nil && c.Machine != "" && other.Machine == c.Machine {
			clock = ClockOf(e.Recorder, other.Pod)
		}
	}
	if clock == nil {
		return Moment{Earliest: at.Time, Latest: at.Time}
	}
	return Told(at.Time, *clock)
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
