package experiment

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/load"
	"replab.dev/internal/load/k6"
)

// togetherPatience is how much later than the first another k6 pod may begin, when the operator was stopped between the two.
const togetherPatience = 10 * time.Second

// k6s are the k6 pods with these addresses.
type k6s interface {
	// K6States are those of the pods in their order; one that does not answer is preparing.
	K6States(ctx context.Context, podIPs []string) []k6.State
	// ResumeK6s has paused k6 pods begin, all at the same moment.
	ResumeK6s(ctx context.Context, podIPs []string) error
}

// resume has the k6 pods begin together, as soon as all of them are ready. What has begun is not begun again; those that
// an operator who was stopped left waiting begin after the others, unless it is too late for that.
func resume(ctx context.Context, run *Run, shares []load.Share, began *metav1.MicroTime) (Outcome, error) {
	preparing, paused := waitingPods(ctx, run, shares)
	if len(paused) > 0 && began != nil && run.Now().Sub(began.Time) > togetherPatience {
		return Terminal(v1alpha1.ReasonLoadFailed, "%d of %d k6 pods still waited %s after the load began: the operator restarted meanwhile. Run it again",
			len(paused), len(shares), togetherPatience), nil
	}
	if len(paused) > 0 && (preparing == 0 || began != nil) {
		if err := run.Processes.ResumeK6s(ctx, paused); err != nil {
			return awaitStart(ctx, run, v1alpha1.AwaitedLoadPods, "k6 did not begin: "+err.Error()+",") // the next pass sees which has
		}
	}
	if preparing > 0 {
		return awaitStart(ctx, run, v1alpha1.AwaitedLoadPods, "the k6 pods were not ready to begin")
	}
	reach(run, v1alpha1.MilestoneLoadBegun)
	return Wait(100*time.Millisecond, v1alpha1.ReasonStarting, "k6 is starting"), nil
}

// waitingPods counts the k6 pods that are not ready yet, and returns the addresses of those that wait to begin.
func waitingPods(ctx context.Context, run *Run, shares []load.Share) (preparing int, paused []string) {
	var ips []string
	for _, s := range shares {
		switch {
		case s.State == load.Complete:
		case s.Pod == nil || s.Pod.Status.PodIP == "" || s.Hold:
			preparing++
		default:
			ips = append(ips, s.Pod.Status.PodIP)
		}
	}
	for i, state := range run.Processes.K6States(ctx, ips) {
		switch state {
		case k6.Preparing:
			preparing++
		case k6.Paused:
			paused = append(paused, ips[i])
		}
	}
	return preparing, paused
}
