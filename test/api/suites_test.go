package api_test

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"replab.dev/api/v1alpha1"
	"replab.dev/api/v1alpha1/validation"
	"replab.dev/controllers/suite"
	"replab.dev/internal/cluster"
	"replab.dev/internal/engine/mysql"
	"replab.dev/test/kubetest"
)

const twoVariants = `
apiVersion: replab.dev/v1alpha1
kind: ReplicationSuite
metadata: {name: two}
spec:
  template: {spec: {topology: {type: Async, nodes: 2}, load: {stages: [{name: steady, durationSeconds: 30, users: 5}]}}}
  variants: [{name: async}, {name: semisync, patch: {topology: {type: SemiSync}}}]
  trials: 2
  drawFaults: {actions: [Kill]}
  ttlSecondsAfterFinished: 0
`

// suiteOperator carries suites out as the client may. Nobody carries experiments out.
func suiteOperator(api client.Client) *suite.Reconciler {
	return &suite.Reconciler{
		Client: api, Experiments: api, Cluster: &cluster.Cluster{Client: api}, Writer: api, Servers: validation.Servers{v1alpha1.EngineMySQL: mysql.Server{}},
		Events: &events.FakeRecorder{}, Now: time.Now,
	}
}

// suiteIn creates a suite in a namespace of its own.
func suiteIn(t *testing.T, text string) client.ObjectKey {
	t.Helper()
	admin := kubetest.Client(t)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "suite-"}}
	must(t, admin.Create(t.Context(), namespace))
	u := &unstructured.Unstructured{}
	must(t, yaml.Unmarshal([]byte(text), &u.Object))
	u.SetNamespace(namespace.Name)
	must(t, admin.Create(t.Context(), u, client.FieldValidation(metav1.FieldValidationStrict)))
	return client.ObjectKeyFromObject(u)
}

// carry has the operator look until the suite is done, and ends trials that run.
func carry(t *testing.T, r *suite.Reconciler, key client.ObjectKey, done func(*v1alpha1.ReplicationSuite) bool) *v1alpha1.ReplicationSuite {
	t.Helper()
	admin, s := kubetest.Client(t), &v1alpha1.ReplicationSuite{}
	for range 100 {
		_, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key})
		must(t, err)
		s = &v1alpha1.ReplicationSuite{}
		err = admin.Get(t.Context(), key, s)
		if apierrors.IsNotFound(err) || done(s) {
			return s
		}
		must(t, err)
		endTrials(t, admin, key.Namespace)
	}
	t.Fatalf("the suite does not come that far: %+v", s.Status)
	return nil
}

// endTrials has every experiment pass.
func endTrials(t *testing.T, admin client.Client, namespace string) {
	t.Helper()
	var all v1alpha1.ReplicationExperimentList
	must(t, admin.List(t.Context(), &all, client.InNamespace(namespace)))
	for _, x := range all.Items {
		now := metav1.Now()
		x.Status.StartTime, x.Status.CompletionTime, x.Status.Verdict, x.Status.ObservedGeneration = &now, &now, v1alpha1.VerdictPassed, x.Generation
		meta.SetStatusCondition(&x.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionComplete, Status: metav1.ConditionTrue, Reason: "Passed"})
		must(t, admin.Status().Update(t.Context(), &x))
	}
}

func complete(s *v1alpha1.ReplicationSuite) bool {
	return meta.IsStatusConditionTrue(s.Status.Conditions, v1alpha1.ConditionComplete)
}

// TestSuiteRunsAgainstAnAPIServer: the CRD takes every status, and the trials have the defaults of experiments.
func TestSuiteRunsAgainstAnAPIServer(t *testing.T) {
	admin := kubetest.Client(t)
	key := suiteIn(t, twoVariants)
	s := carry(t, suiteOperator(admin), key, complete)
	if s.Status.Verdict != v1alpha1.VerdictPassed || s.Status.Trials.Passed != 4 {
		t.Errorf("%s %v %+v", s.Status.Verdict, s.Status.Reasons, s.Status.Trials)
	}
	x := &v1alpha1.ReplicationExperiment{}
	must(t, admin.Get(t.Context(), client.ObjectKey{Namespace: key.Namespace, Name: "two-semisync-2"}, x))
	if x.Spec.Topology.Type != v1alpha1.TopologySemiSync || x.Spec.Dataset.Users == 0 || x.Spec.Keep != v1alpha1.KeepNever || !metav1.IsControlledBy(x, s) || len(x.Spec.Faults) != 1 {
		t.Errorf("%+v", x.Spec)
	}
	gone := carry(t, suiteOperator(admin), key, func(*v1alpha1.ReplicationSuite) bool { return false })
	if gone.UID != "" {
		t.Errorf("ttlSecondsAfterFinished leaves %+v", gone.Status)
	}
}

// TestWrongVariantsAreRefused by the API server, and by the operator's rules of experiments.
func TestWrongVariantsAreRefused(t *testing.T) {
	for patch, says := range map[string]string{
		"topology: {type: SemySync}":                             "variant semisync: ",
		"topology: {type: SemiSync}, loads: {}":                  `unknown field "spec.loads"`,
		"topology: {nodes: 0}":                                   "spec.topology.nodes",
		"topology: {type: SemiSync, semiSync: {ackReplicas: 2}}": "exceeds the number of replicas",
	} {
		key := suiteIn(t, strings.Replace(twoVariants, "topology: {type: SemiSync}}", patch+"}", 1))
		s := carry(t, suiteOperator(kubetest.Client(t)), key, complete)
		var all v1alpha1.ReplicationExperimentList
		must(t, kubetest.Client(t).List(context.Background(), &all, client.InNamespace(key.Namespace)))
		if s.Status.Verdict != v1alpha1.VerdictInconclusive || !strings.Contains(strings.Join(s.Status.Reasons, "\n"), says) || len(all.Items) > 0 {
			t.Errorf("%s: %s %v, %d trials", patch, s.Status.Verdict, s.Status.Reasons, len(all.Items))
		}
	}
}

// useSuites does all that the operator does for suites.
func useSuites(t *testing.T, api client.Client) {
	t.Helper()
	admin := kubetest.Client(t)
	key := suiteIn(t, twoVariants)
	r := suiteOperator(api)
	var s *v1alpha1.ReplicationSuite
	for range 20 {
		_, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key})
		must(t, err)
		s = &v1alpha1.ReplicationSuite{}
		must(t, admin.Get(t.Context(), key, s))
		if len(s.Status.Runs) > 0 && s.Status.Runs[0].UID != "" {
			break
		}
	}
	s.Spec.Abort = true
	must(t, admin.Update(t.Context(), s))
	_, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key})
	must(t, err)
	if gone := carry(t, r, key, func(*v1alpha1.ReplicationSuite) bool { return false }); gone.UID != "" {
		t.Errorf("the suite is still there: %+v", gone.Status)
	}
}

func TestAbortOfASuiteIsFinalOnceStarted(t *testing.T) {
	key := suiteIn(t, twoVariants)
	s := &unstructured.Unstructured{}
	s.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("ReplicationSuite"))
	must(t, kubetest.Client(t).Get(t.Context(), key, s))
	must(t, unstructured.SetNestedField(s.Object, true, "spec", "abort"))
	must(t, kubetest.Client(t).Update(t.Context(), s))
	if err := dryUpdate(t, s, `{spec: {abort: false}}`); err != nil {
		t.Errorf("refused before the start: %v", err)
	}
	start(t, s)
	for _, patch := range []string{`{spec: {abort: false}}`, `{spec: {abort: null}}`} {
		if err := dryUpdate(t, s, patch); err == nil || !strings.Contains(err.Error(), "spec.abort cannot be taken back once the suite has started") {
			t.Errorf("%s: refusal = %v, want one that says that it cannot be taken back", patch, err)
		}
	}
}

// TestSpecOfAStartedSuiteIsFixed: internal/check has every field.
func TestSpecOfAStartedSuiteIsFixed(t *testing.T) {
	key := suiteIn(t, twoVariants)
	s := &unstructured.Unstructured{}
	s.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("ReplicationSuite"))
	must(t, kubetest.Client(t).Get(t.Context(), key, s))
	fixed := map[string]string{
		"trials":     `{spec: {trials: 3}}`,
		"template":   `{spec: {template: {spec: {topology: {nodes: 3}}}}}`,
		"variants":   `{spec: {variants: [{name: async}, {name: semisync, patch: {topology: {type: Galera}}}]}}`,
		"drawFaults": `{spec: {drawFaults: null}}`,
	}
	for name, patch := range fixed {
		if err := dryUpdate(t, s, patch); err != nil {
			t.Errorf("%s: refused before the start: %v", name, err)
		}
	}
	start(t, s)
	for name, patch := range fixed {
		says := "spec." + name + " cannot be changed once the suite has started: create another suite instead"
		if err := dryUpdate(t, s, patch); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: refusal = %v, want one that says %q", name, err, says)
		}
	}
	if err := dryUpdate(t, s, `{spec: {keepTrials: 0, suspend: true, abort: true, ttlSecondsAfterFinished: 60}}`); err != nil {
		t.Errorf("it cannot be ended: %v", err)
	}
}
