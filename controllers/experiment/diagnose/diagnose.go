// Package diagnose looks at an experiment's pods, claims and events for what will not go away by itself.
package diagnose

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/controllers/step"
)

// Words are what the cluster says about an object when it is asked.
type Words interface {
	// LastEvent is the newest event about an object, nil when there is none.
	LastEvent(ctx context.Context, about client.Object) (*corev1.Event, error)
	// LogTail is the end of a container's log; previous is that of its last life.
	LogTail(ctx context.Context, pod *corev1.Pod, container string, previous bool) string
}

// Scene is an experiment's objects at one moment.
type Scene struct {
	Now         time.Time
	Pods        []corev1.Pod
	Claims      []corev1.PersistentVolumeClaim
	Refusals    []corev1.Event // the newest that say why an object of the experiment could not make its pods
	Controllers []string       // names of the objects of the plan that make pods
	Words       Words
}

// Find returns a terminal outcome for the first defect that lasts. Crashes of servers only count while no fault can have caused them.
func Find(ctx context.Context, s *Scene, crashes bool) (step.Outcome, error) {
	for i := range s.Pods {
		if out, err := Pod(ctx, s, &s.Pods[i], crashes); err != nil || out.Terminal {
			return out, err
		}
	}
	if out, err := unbound(ctx, s); err != nil || out.Terminal {
		return out, err
	}
	return refusals(s), nil
}
