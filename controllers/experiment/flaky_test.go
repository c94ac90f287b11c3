package experiment

import (
	"context"
	"errors"

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

// flaky is a world in which one call of the operator fails: it has no effect, or, where the answer is lost, it has.
type flaky struct {
	*world
	failAt int      // the number of the call that fails, 0 for none
	lost   bool     // only its answer
	calls  []string // so far
}

var errChaos = errors.New("the API server is too busy")

// try makes a call unless it is the one that fails.
func try[T any](f *flaky, what string, call func() (T, error)) (T, error) {
	f.calls = append(f.calls, what)
	if len(f.calls) != f.failAt {
		return call()
	}
	var none T
	if f.lost {
		_, _ = call()
	}
	return none, errChaos
}

func (f *flaky) do(what string, call func() error) error {
	_, err := try(f, what, func() (struct{}, error) { return struct{}{}, call() })
	return err
}

func (f *flaky) Try(ctx context.Context, x *v1alpha1.ReplicationExperiment, o client.Object) error {
	return f.do("try "+key(o), func() error { return f.world.Try(ctx, x, o) })
}

func (f *flaky) Apply(ctx context.Context, x *v1alpha1.ReplicationExperiment, o client.Object) error {
	return f.do("apply "+key(o), func() error { return f.world.Apply(ctx, x, o) })
}

func (f *flaky) Create(ctx context.Context, x *v1alpha1.ReplicationExperiment, o client.Object) error {
	return f.do("create "+key(o), func() error { return f.world.Create(ctx, x, o) })
}

func (f *flaky) RemoveOrphans(ctx context.Context, x *v1alpha1.ReplicationExperiment) (int, error) {
	return try(f, "remove orphans", func() (int, error) { return f.world.RemoveOrphans(ctx, x) })
}

func (f *flaky) Delete(ctx context.Context, o client.Object) error {
	return f.do("delete "+key(o), func() error { return f.world.Delete(ctx, o) })
}

func (f *flaky) Update(ctx context.Context, o client.Object) error {
	return f.do("update "+key(o), func() error { return f.world.Update(ctx, o) })
}

func (f *flaky) Get(ctx context.Context, o client.Object) (bool, error) {
	return try(f, "get "+key(o), func() (bool, error) { return f.world.Get(ctx, o) })
}

func (f *flaky) Pods(ctx context.Context, x *v1alpha1.ReplicationExperiment) ([]corev1.Pod, error) {
	return try(f, "pods", func() ([]corev1.Pod, error) { return f.world.Pods(ctx, x) })
}

func (f *flaky) Claims(ctx context.Context, x *v1alpha1.ReplicationExperiment) ([]corev1.PersistentVolumeClaim, error) {
	return try(f, "claims", func() ([]corev1.PersistentVolumeClaim, error) { return f.world.Claims(ctx, x) })
}

func (f *flaky) Refusals(ctx context.Context, x *v1alpha1.ReplicationExperiment) ([]corev1.Event, error) {
	return try(f, "refusals", func() ([]corev1.Event, error) { return f.world.Refusals(ctx, x) })
}

func (f *flaky) LastEvent(ctx context.Context, o client.Object) (*corev1.Event, error) {
	return try(f, "last event", func() (*corev1.Event, error) { return f.world.LastEvent(ctx, o) })
}

func (f *flaky) Machines(ctx context.Context, names []string) ([]corev1.Node, error) {
	return try(f, "machines", func() ([]corev1.Node, error) { return f.world.Machines(ctx, names) })
}

func (f *flaky) DeletePod(ctx context.Context, key types.NamespacedName, uid types.UID, grace *int64) error {
	return f.do("delete pod", func() error { return f.world.DeletePod(ctx, key, uid, grace) })
}

func (f *flaky) Remove(ctx context.Context, x *v1alpha1.ReplicationExperiment) (int, error) {
	return try(f, "remove", func() (int, error) { return f.world.Remove(ctx, x) })
}

func (f *flaky) RemoveLoad(ctx context.Context, x *v1alpha1.ReplicationExperiment) error {
	return f.do("remove the load", func() error { return f.world.RemoveLoad(ctx, x) })
}

func (f *flaky) Ask(ctx context.Context, questions []topology.Question) topology.Answers {
	answers, err := try(f, "ask", func() (topology.Answers, error) { return f.world.Ask(ctx, questions), nil })
	if err != nil {
		return topology.Answers{"director": {Err: err.Error()}}
	}
	return answers
}

func (f *flaky) Send(ctx context.Context, token string, r topology.Request) ([]byte, error) {
	return try(f, "send", func() ([]byte, error) { return f.world.Send(ctx, token, r) })
}

func (f *flaky) Faults(ctx context.Context, token string, calls []fault.Call) []fault.Answer {
	answers := make([]fault.Answer, len(calls))
	for i, c := range calls {
		answers[i].FaultRecord, answers[i].Err = try(f, "fault "+c.Name, func() (wire.FaultRecord, error) {
			answer := f.world.Faults(ctx, token, []fault.Call{c})[0]
			return answer.FaultRecord, answer.Err
		})
	}
	return answers
}

func (f *flaky) FaultState(ctx context.Context, podIP, name string) (*wire.FaultRecord, error) {
	return try(f, "state of fault "+name, func() (*wire.FaultRecord, error) { return f.world.FaultState(ctx, podIP, name) })
}

func (f *flaky) SetLinks(ctx context.Context, token string, calls []distance.Call) []distance.Answer {
	answers := make([]distance.Answer, len(calls))
	for i, c := range calls {
		answers[i].LinksState, answers[i].Err = try(f, "set links", func() (wire.LinksState, error) {
			answer := f.world.SetLinks(ctx, token, []distance.Call{c})[0]
			return answer.LinksState, answer.Err
		})
	}
	return answers
}

func (f *flaky) LinksStates(ctx context.Context, podIPs []string) []distance.Answer {
	answers := make([]distance.Answer, len(podIPs))
	for i, ip := range podIPs {
		answers[i].LinksState, answers[i].Err = try(f, "state of links", func() (wire.LinksState, error) {
			answer := f.world.LinksStates(ctx, []string{ip})[0]
			return answer.LinksState, answer.Err
		})
	}
	return answers
}

func (f *flaky) ClearLinks(ctx context.Context, token string, podIPs []string) []error {
	failed := make([]error, len(podIPs))
	for i, ip := range podIPs {
		failed[i] = f.do("clear links", func() error { return f.world.ClearLinks(ctx, token, []string{ip})[0] })
	}
	return failed
}

func (f *flaky) MeasureRoundTrips(ctx context.Context, token string, calls []distance.MeasureCall) []distance.Measured {
	answers := make([]distance.Measured, len(calls))
	for i, c := range calls {
		answers[i].RoundTrips, answers[i].Err = try(f, "measure round trips", func() (wire.RoundTrips, error) {
			answer := f.world.MeasureRoundTrips(ctx, token, []distance.MeasureCall{c})[0]
			return answer.RoundTrips, answer.Err
		})
	}
	return answers
}

func (f *flaky) K6States(ctx context.Context, podIPs []string) []k6.State {
	states := make([]k6.State, len(podIPs))
	for i, ip := range podIPs {
		states[i], _ = try(f, "state of k6", func() (k6.State, error) { return f.world.K6States(ctx, []string{ip})[0], nil })
	}
	return states
}

func (f *flaky) ResumeK6s(ctx context.Context, podIPs []string) error {
	var failed error
	for _, ip := range podIPs {
		failed = errors.Join(failed, f.do("resume "+ip, func() error { return f.world.ResumeK6s(ctx, []string{ip}) }))
	}
	return failed
}

func (f *flaky) Recorder(ctx context.Context, url string) (wire.RecorderState, error) {
	return try(f, "recorder", func() (wire.RecorderState, error) { return f.world.Recorder(ctx, url) })
}

func (f *flaky) FinishRecorder(ctx context.Context, token, url string) error {
	return f.do("finish the recorder", func() error { return f.world.FinishRecorder(ctx, token, url) })
}
