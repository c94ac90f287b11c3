package experiment

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/controllers/experiment/distance"
	"replab.dev/controllers/experiment/fault"
	"replab.dev/internal/load/k6"
	"replab.dev/internal/topology"
	"replab.dev/internal/wire"
)

// Cluster reads and writes the objects of one experiment.
type Cluster interface {
	// Apply makes an object as given, owned by the experiment: server-side, under replab's field owner.
	Apply(ctx context.Context, owner *v1alpha1.ReplicationExperiment, obj client.Object) error
	// Try has the API server look at an object as if it were to be made. Nothing is made.
	Try(ctx context.Context, owner *v1alpha1.ReplicationExperiment, obj client.Object) error
	// Create makes an object that must never be made twice. An object of that name and owner that exists is fine.
	Create(ctx context.Context, owner *v1alpha1.ReplicationExperiment, obj client.Object) error
	// Update writes an object as it was read and changed: a conflict when somebody else has written it since.
	Update(ctx context.Context, obj client.Object) error
	// Delete deletes an object if it still has its UID.
	Delete(ctx context.Context, obj client.Object) error
	// Get reads an object into obj and tells whether it exists.
	Get(ctx context.Context, obj client.Object) (bool, error)
	// Pods of an experiment.
	Pods(ctx context.Context, x *v1alpha1.ReplicationExperiment) ([]corev1.Pod, error)
	// Machines of these names; one that is gone is left out.
	Machines(ctx context.Context, names []string) ([]corev1.Node, error)
	// Claims of an experiment.
	Claims(ctx context.Context, x *v1alpha1.ReplicationExperiment) ([]corev1.PersistentVolumeClaim, error)
	// Refusals are the newest events that say why an object of the experiment could not make its pods.
	Refusals(ctx context.Context, x *v1alpha1.ReplicationExperiment) ([]corev1.Event, error)
	// LastEvent is the newest event about an object, nil when there is none.
	LastEvent(ctx context.Context, about client.Object) (*corev1.Event, error)
	// DeletePod deletes the pod only if it still has this UID.
	DeletePod(ctx context.Context, key types.NamespacedName, uid types.UID, gracePeriodSeconds *int64) error
	// Remove deletes what was deployed for the experiment, other than its results, and tells how many objects are still there. It fails with
	// topology.ErrForbidden where nodes that another operator makes have to stay.
	Remove(ctx context.Context, x *v1alpha1.ReplicationExperiment) (int, error)
	// Note keeps what RemoveOrphans has to know of an experiment that is gone.
	Note(ctx context.Context, x *v1alpha1.ReplicationExperiment) error
	// RemoveOrphans deletes the pods and claims of an experiment that have no owner with which they would go, and what the pods of another
	// operator made anew while they ended. It tells how many of all these are still there. Of an experiment that is gone the name is enough.
	RemoveOrphans(ctx context.Context, x *v1alpha1.ReplicationExperiment) (int, error)
	// RemoveLoad deletes what has k6 run for the experiment, with its pods.
	RemoveLoad(ctx context.Context, x *v1alpha1.ReplicationExperiment) error
	// LogTail is the end of a container's log; previous is that of its last life.
	LogTail(ctx context.Context, pod *corev1.Pod, container string, previous bool) string
}

// Processes talks to the experiment's processes over HTTP.
type Processes interface {
	// Ask answers a topology's questions; what went wrong is in the answers.
	Ask(ctx context.Context, questions []topology.Question) topology.Answers
	// Send makes a request with the experiment's token.
	Send(ctx context.Context, token string, r topology.Request) ([]byte, error)
	fault.Agents
	distance.Agents
	// K6States are those of the k6 pods with these addresses; one that does not answer is preparing.
	K6States(ctx context.Context, podIPs []string) []k6.State
	// ResumeK6s has paused k6 pods begin, all at the same moment.
	ResumeK6s(ctx context.Context, podIPs []string) error
	// Recorder reads the recorder's state.
	Recorder(ctx context.Context, url string) (wire.RecorderState, error)
	// FinishRecorder has the recorder write its results; again and again with the same effect.
	FinishRecorder(ctx context.Context, token, url string) error
}
