package api_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/api/v1alpha1/validation"
	"replab.dev/controllers/experiment"
	"replab.dev/internal/cluster"
	"replab.dev/internal/engine"
	"replab.dev/internal/engine/mariadb"
	"replab.dev/internal/engine/mysql"
	"replab.dev/internal/engine/postgres"
	"replab.dev/internal/kube"
	"replab.dev/internal/wire"
	"replab.dev/test/kubetest"
	"replab.dev/test/specs"
)

// operator is a Reconciler on the test's API server, in a namespace of its own. There is nobody who runs pods.
func operator(t *testing.T) (*experiment.Reconciler, string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(kubetest.Root(), "config", "manager", "operator.json"))
	must(t, err)
	var config wire.OperatorConfig
	must(t, json.Unmarshal(text, &config))
	api := kubetest.Client(t)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "operator-"}}
	must(t, api.Create(t.Context(), namespace))
	return &experiment.Reconciler{
		Client: api, Cluster: &cluster.Cluster{Client: api}, Config: config, Identity: "test", Version: "test", Events: &events.FakeRecorder{}, Now: time.Now,
		Servers: engine.Lookup[engine.Server]{"MySQL": mysql.Server{}, "MariaDB": mariadb.Server{}, "PostgreSQL": postgres.Server{}},
	}, namespace.Name
}

// accepted is how the operator takes an experiment: the condition, once the run has started or is over. The experiment is gone afterwards.
func accepted(t *testing.T, r *experiment.Reconciler, object *unstructured.Unstructured) *metav1.Condition {
	t.Helper()
	api := kubetest.Client(t)
	must(t, api.Create(t.Context(), object))
	defer func() { // nobody collects garbage
		must(t, api.Delete(context.Background(), object))
		must(t, api.DeleteAllOf(context.Background(), &coordinationv1.Lease{}, client.InNamespace(object.GetNamespace())))
	}()
	key := client.ObjectKeyFromObject(object)
	x := &v1alpha1.ReplicationExperiment{}
	for range 10 {
		if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); err != nil {
			t.Fatal(err)
		}
		must(t, api.Get(t.Context(), key, x))
		c := meta.FindStatusCondition(x.Status.Conditions, v1alpha1.ConditionAccepted)
		if c != nil && (x.Status.StartTime != nil || meta.IsStatusConditionTrue(x.Status.Conditions, v1alpha1.ConditionComplete)) {
			return c
		}
	}
	return meta.FindStatusCondition(x.Status.Conditions, v1alpha1.ConditionAccepted)
}

// TestCheckAnswersLikeTheOperator: of what the API server takes, the operator refuses what check refuses, with every sentence, within two seconds.
func TestCheckAnswersLikeTheOperator(t *testing.T) {
	r, namespace := operator(t)
	patches := map[string]string{}
	for _, c := range specs.Cases {
		patches[c.Name] = c.Refused
	}
	for name, patch := range specs.Accepted {
		patches[name] = patch
	}
	for name, patch := range patches {
		object := minimalWith(t, patch)
		object.SetNamespace(namespace)
		answer := checked(t, object)
		if len(answer.Schema) > 0 {
			continue // TestCheckAnswersLikeTheAPIServer
		}
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			c := accepted(t, r, object)
			refused := c != nil && c.Reason == v1alpha1.ReasonSpecRefused
			if refused != (len(answer.Spec) > 0) || refused && c.Message != validation.Message(answer.Spec) {
				t.Errorf("check says %q, the operator %+v", answer.Sentences(), c)
			}
			if took := time.Since(start); refused && took > 2*time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
}

// TestTheOperatorMakesNothingOfARefusedSpec, no Lease either.
func TestTheOperatorMakesNothingOfARefusedSpec(t *testing.T) {
	r, namespace := operator(t)
	object := minimalWith(t, `{spec: {deadlineSeconds: 1}}`)
	object.SetNamespace(namespace)
	if c := accepted(t, r, object); c == nil || c.Reason != v1alpha1.ReasonSpecRefused {
		t.Fatalf("%+v", c)
	}
	for _, kind := range []string{"Secret", "ConfigMap", "Service", "StatefulSet", "Deployment", "Job", "Lease", "NetworkPolicy"} {
		list := &metav1.PartialObjectMetadataList{}
		group := map[string]string{"StatefulSet": "apps/v1", "Deployment": "apps/v1", "Job": "batch/v1", "Lease": "coordination.k8s.io/v1", "NetworkPolicy": "networking.k8s.io/v1"}[kind]
		if group == "" {
			group = "v1"
		}
		list.APIVersion, list.Kind = group, kind+"List"
		must(t, kubetest.Client(t).List(t.Context(), list, client.InNamespace(namespace), client.MatchingLabels{kube.LabelManagedBy: kube.ManagedBy}))
		if len(list.Items) > 0 {
			t.Errorf("%d of kind %s were made", len(list.Items), kind)
		}
	}
}

// TestThePlanIsRefusedByTheAPIServer where no rule sees what is wrong: once, with the experiment's field, and before anything is made.
func TestThePlanIsRefusedByTheAPIServer(t *testing.T) {
	r, namespace := operator(t)
	for name, c := range map[string]struct{ patch, field string }{
		"domains that nothing needs":  {`{spec: {pods: {all: {topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway, minDomains: 2}]}}}}`, "spec.pods.all.topologySpreadConstraints[0].minDomains"},
		"a weight beyond all":         {`{spec: {pods: {all: {affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 200, preference: {matchExpressions: [{key: a, operator: Exists}]}}]}}}}}}`, "spec.pods.all.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight"},
		"an unknown policy of groups": {`{spec: {pods: {nodes: {securityContext: {fsGroupChangePolicy: Sometimes}}}}}`, "spec.pods.nodes.securityContext.fsGroupChangePolicy"},
		"an instrument's bad policy":  {`{spec: {pods: {instruments: {securityContext: {fsGroupChangePolicy: Sometimes}}}}}`, "spec.pods.instruments.securityContext.fsGroupChangePolicy"},
	} {
		object := minimalWith(t, c.patch)
		object.SetNamespace(namespace)
		found := accepted(t, r, object)
		if found == nil || found.Reason != v1alpha1.ReasonSpecRefused {
			t.Errorf("%s: %+v", name, found)
			continue
		}
		lines := strings.Split(found.Message, "\n")
		for _, line := range lines {
			if !strings.HasPrefix(line, c.field+": the API server refuses v1.") || !strings.HasSuffix(line, ". Correct or remove it.") {
				t.Errorf("%s: %s", name, line)
			}
		}
		if slices.Sort(lines); len(slices.Compact(lines)) < strings.Count(found.Message, "\n")+1 {
			t.Errorf("%s is told twice: %s", name, found.Message)
		}
	}
}

// TestAWebhookThatIsDownHoldsNoOtherUp: the run says what refuses it, is not in line meanwhile, and ends.
func TestAWebhookThatIsDownHoldsNoOtherUp(t *testing.T) {
	r, namespace := operator(t)
	api := kubetest.Client(t)
	hook := &admissionv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "down"}, Webhooks: []admissionv1.ValidatingWebhook{{
		Name: "down.example.com", AdmissionReviewVersions: []string{"v1"}, SideEffects: ptr.To(admissionv1.SideEffectClassNone), TimeoutSeconds: ptr.To[int32](1),
		ClientConfig:      admissionv1.WebhookClientConfig{URL: ptr.To("https://127.0.0.1:1/x")},
		NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": namespace}},
		Rules: []admissionv1.RuleWithOperations{{Operations: []admissionv1.OperationType{"CREATE"}, Rule: admissionv1.Rule{
			APIGroups: []string{"apps"}, APIVersions: []string{"v1"}, Resources: []string{"statefulsets"},
		}}},
	}}}
	must(t, api.Create(t.Context(), hook))
	t.Cleanup(func() { must(t, api.Delete(context.Background(), hook)) })
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "a"}}
	set.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}
	set.Spec.Template.Labels = set.Spec.Selector.MatchLabels
	set.Spec.Template.Spec.Containers = []corev1.Container{{Name: "a", Image: "a"}}
	until(t, "the webhook is asked", func() bool {
		return apierrors.IsInternalError(api.Create(t.Context(), set.DeepCopy(), client.DryRunAll))
	})
	object := minimalWith(t, `{spec: {}}`)
	object.SetNamespace(namespace)
	must(t, api.Create(t.Context(), object))
	look := func() (x v1alpha1.ReplicationExperiment, c *metav1.Condition) {
		_, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(object)})
		must(t, err)
		must(t, api.Get(t.Context(), client.ObjectKeyFromObject(object), &x))
		return x, meta.FindStatusCondition(x.Status.Conditions, v1alpha1.ConditionAccepted)
	}
	if x, c := look(); c == nil || c.Reason != "Refused" || !strings.Contains(c.Message, "down.example.com") || experiment.InLine(&x) {
		t.Fatalf("it waits with %+v", c)
	}
	r.Now = func() time.Time { return time.Now().Add(2 * time.Minute) }
	if _, c := look(); c == nil || c.Reason != v1alpha1.ReasonObjectRefused || !strings.Contains(c.Message, "down.example.com") {
		t.Errorf("it ends with %+v", c)
	}
}
