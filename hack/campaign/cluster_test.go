package main

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kubefake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
	"replab.dev/internal/provenance"
	"replab.dev/internal/results"
	"replab.dev/internal/runs"
	"replab.dev/internal/wire"
)

// outcome of a run.
type outcome struct {
	verdict v1alpha1.Verdict
	lost    int64
	reasons []string
}

// cluster completes each experiment as soon as it is created, with the outcome of its turn, or of the last.
type cluster struct {
	runs.Cluster
	created []string
}

func newCluster(t *testing.T, outcomes ...outcome) *cluster {
	t.Helper()
	c := &cluster{}
	scheme := runtime.NewScheme()
	must(t, v1alpha1.AddToScheme(scheme))
	must(t, corev1.AddToScheme(scheme))
	c.Cluster = runs.Cluster{Look: time.Millisecond, Kube: kubefake.NewClientset(), Client: fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(interceptor.Funcs{
		Create: func(ctx context.Context, server client.WithWatch, o client.Object, _ ...client.CreateOption) error {
			asked, ok := o.(*unstructured.Unstructured)
			if !ok {
				return server.Create(ctx, o)
			}
			x := &v1alpha1.ReplicationExperiment{}
			must(t, runtime.DefaultUnstructuredConverter.FromUnstructured(asked.Object, x))
			is := outcomes[min(len(c.created), len(outcomes)-1)]
			x.Status = v1alpha1.ReplicationExperimentStatus{
				Verdict: is.verdict, Reasons: is.reasons, Writes: &v1alpha1.WritesStatus{Lost: ptr.To(is.lost)}, OutageMilliseconds: ptr.To[int64](700),
				Load:       loadOf(x),
				Conditions: []metav1.Condition{{Type: v1alpha1.ConditionComplete, Status: metav1.ConditionTrue}},
			}
			if err := server.Create(ctx, x); err != nil {
				return err
			}
			c.created = append(c.created, x.Name)
			c.pods(t, x)
			return server.Create(ctx, c.results(t, x))
		},
	}).Build()}
	return c
}

// pods of an experiment: a server that was started again.
func (c *cluster) pods(t *testing.T, x *v1alpha1.ReplicationExperiment) {
	t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: x.Name + "-db-0", Namespace: x.Namespace, Labels: map[string]string{kube.LabelExperiment: x.Name}}}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "server", RestartCount: 1}}
	must(t, c.Client.Create(t.Context(), pod))
}

var onMachines = provenance.Provenance{Machines: []provenance.Machine{{Name: "m", CPUs: 2}}}

func perSecondOf(x *v1alpha1.ReplicationExperiment) int64 {
	if x.Spec.Topology.Type == v1alpha1.TopologySingle {
		return 100
	}
	return 90
}

// loadOf has the same throughput in all stages.
func loadOf(x *v1alpha1.ReplicationExperiment) *v1alpha1.LoadStatus {
	milli := perSecondOf(x) * 1000
	l := &v1alpha1.LoadStatus{StageFigures: v1alpha1.StageFigures{RequestsPerSecondMilli: &milli}}
	for _, s := range x.Spec.Load.Stages {
		l.Stages = append(l.Stages, v1alpha1.StageStatus{Name: s.Name, StageFigures: l.StageFigures})
	}
	return l
}

// results of a run: a single server does 100 requests a second, anything else 90.
func (c *cluster) results(t *testing.T, x *v1alpha1.ReplicationExperiment) *corev1.ConfigMap {
	t.Helper()
	r := results.Results{Experiment: x.Name, Spec: x.Spec, Status: x.Status, Recorder: &wire.RecorderResults{}, Provenance: onMachines}
	for _, s := range x.Spec.Load.Stages {
		n := perSecondOf(x)
		r.Recorder.Stages = append(r.Recorder.Stages, wire.StageResult{Name: s.Name, DurationMicroseconds: 1e6, Answered: n, Succeeded: n, Latency: &wire.Latency{MeanMicroseconds: 1}})
	}
	text, err := json.Marshal(r)
	must(t, err)
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: results.Name(x.Name), Namespace: x.Namespace}, Data: map[string]string{results.Key: string(text)}}
}

func (c *cluster) left(t *testing.T) (names []string) {
	t.Helper()
	var all v1alpha1.ReplicationExperimentList
	must(t, c.List(t.Context(), &all))
	for _, x := range all.Items {
		names = append(names, x.Name)
	}
	return names
}

// goOn with a campaign in a folder, as the command does.
func (c *cluster) goOn(ctx context.Context, t *testing.T, dir string, o options) (string, *book, error) {
	t.Helper()
	s := subjectOf(t, o)
	b, err := openBook(dir, charterOf(s, o))
	must(t, err)
	defer b.close()
	var out bytes.Buffer
	err = carryOut(ctx, &out, runner{cluster: c.Cluster, limit: time.Minute, keep: o.keep, id: b.ID}, b, s, o)
	return out.String(), b, err
}
