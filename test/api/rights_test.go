package api_test

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/cluster"
	"replab.dev/internal/engine"
	"replab.dev/internal/engine/mysql"
	"replab.dev/internal/engine/postgres"
	"replab.dev/internal/kube"
	"replab.dev/internal/plan"
	"replab.dev/internal/wire"
	"replab.dev/test/experiment"
	"replab.dev/test/kubetest"
)

// elsewhere are rights that are used where this test does not come.
var elsewhere = map[string]string{
	"replab.dev/replicationexperiments/finalizers update": "owner references that block the deletion, where that is enforced",
	"replab.dev/replicationexperiments watch":             "the cache",
	"replab.dev/replicationsuites/finalizers update":      "as of experiments",
	"replab.dev/replicationsuites list":                   "the cache",
	"replab.dev/replicationsuites watch":                  "the cache",
	"events.k8s.io/events patch":                          "an event that comes again",
	"events.k8s.io/events create":                         "the recorder of events",
	"/nodes list":                                         "whether experiments may run side by side",
}

// rights are what was asked of an API server that allowed it, as "group/resource verb".
type rights struct {
	http.RoundTripper
	mu   sync.Mutex
	used map[string]bool
}

func (r *rights) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := r.RoundTripper.RoundTrip(request)
	if err == nil && response.StatusCode != http.StatusForbidden {
		resource, named := resourceOf(request.URL.Path)
		verbs := []string{map[string]string{"POST": "create", "PATCH": "patch", "PUT": "update", "GET": "list", "DELETE": "deletecollection"}[request.Method]}
		if named && request.Method == http.MethodGet {
			verbs = []string{"get"}
		}
		if named && request.Method == http.MethodDelete {
			verbs = []string{"delete"}
		}
		if response.StatusCode == http.StatusCreated && request.Method == http.MethodPatch {
			verbs = append(verbs, "create")
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, verb := range verbs {
			r.used[resource+" "+verb] = true
		}
	}
	return response, err
}

// resourceOf a path such as /apis/apps/v1/namespaces/a/deployments/b/status, and whether it names one object.
func resourceOf(path string) (resource string, named bool) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	group := ""
	if parts[0] == "apis" && len(parts) > 1 {
		group, parts = parts[1], parts[1:]
	}
	if len(parts) < 3 {
		return path, false // discovery
	}
	if parts = parts[2:]; parts[0] == "namespaces" && len(parts) > 2 {
		parts = parts[2:]
	}
	resource = group + "/" + parts[0]
	if len(parts) > 2 {
		resource += "/" + parts[2]
	}
	return resource, len(parts) > 1
}

// TestTheOperatorHasTheRightsThatItUses, and no others: it does all that it does in a run with exactly the rights of its role.
func TestTheOperatorHasTheRightsThatItUses(t *testing.T) {
	admin := kubetest.Client(t)
	config := kubetest.Config(t)
	config.Impersonate.UserName = "replab-operator-of-rights"
	asked := &rights{used: map[string]bool{}}
	config.Wrap(func(rt http.RoundTripper) http.RoundTripper { asked.RoundTripper = rt; return asked })
	api, err := client.New(config, client.Options{Scheme: admin.Scheme()})
	must(t, err)
	core, err := typedcorev1.NewForConfig(config)
	must(t, err)
	give(t, admin, config.Impersonate.UserName, "rbac/role.yaml")
	until(t, "the operator has its rights", func() bool { return api.List(t.Context(), &corev1.PodList{}) == nil })
	c := &cluster.Cluster{Client: api, Core: core}
	granted := map[string]bool{}
	for _, name := range []string{"semisync", "patroni-quorum"} {
		aRun(t, admin, c, name, granted)
	}
	useSuites(t, api)
	text, err := os.ReadFile(filepath.Join(kubetest.Root(), "config", "rbac", "role.yaml"))
	must(t, err)
	role := &rbacv1.ClusterRole{}
	must(t, yaml.Unmarshal(text, role))
	for right := range rightsOf(role.Rules) {
		if !asked.used[right] && !granted[right] && elsewhere[right] == "" {
			t.Errorf("the right %s is never used", right)
		}
	}
	t.Logf("used: %v", slices.Sorted(maps.Keys(asked.used)))
}

func rightsOf(rules []rbacv1.PolicyRule) map[string]bool {
	all := map[string]bool{}
	for _, rule := range rules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					all[fmt.Sprintf("%s/%s %s", group, resource, verb)] = true
				}
			}
		}
	}
	return all
}

// aRun makes, reads and removes what an experiment has. It notes the rights that its processes are granted.
func aRun(t *testing.T, admin client.Client, c *cluster.Cluster, name string, granted map[string]bool) {
	t.Helper()
	ctx := t.Context()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "rights-"}}
	must(t, admin.Create(ctx, namespace))
	x := experiment.Load(t, name)
	x.Namespace, x.UID = namespace.Name, ""
	must(t, admin.Create(ctx, x))
	servers := map[string]string{string(v1alpha1.EngineMySQL): "a", string(v1alpha1.EnginePostgreSQL): "a"}
	images, err := plan.Images(&x.Spec, wire.Images{Replab: "a", K6: "a", Servers: servers, Proxies: map[string]string{"HAProxy": "a"}})
	must(t, err)
	p, err := plan.Build(plan.Input{
		Experiment: x, ClusterDomain: "cluster.local", OperatorNamespace: "replab-system", Images: images,
		Servers: engine.Lookup[engine.Server]{string(v1alpha1.EngineMySQL): mysql.Server{}, string(v1alpha1.EnginePostgreSQL): postgres.Server{}},
	})
	must(t, err)
	lease := &coordinationv1.Lease{ObjectMeta: kube.Meta(x.Namespace, "a-lease", kube.ComponentOperator, plan.Labels(x.Name))}
	must(t, c.Create(ctx, x, lease))
	_, err = c.Get(ctx, lease)
	must(t, err)
	must(t, c.Update(ctx, lease))
	for range 2 { // an operator that was stopped does it again
		must(t, c.Create(ctx, x, &corev1.Secret{ObjectMeta: kube.Meta(x.Namespace, kube.SecretName(x.Name), "credentials", plan.Labels(x.Name))}))
		for _, o := range append(slices.Clone(p.Deploy), p.Seed) {
			must(t, c.Apply(ctx, x, o))
			if role, ok := o.(*rbacv1.Role); ok {
				maps.Copy(granted, rightsOf(role.Rules))
			}
		}
		for _, o := range p.Load {
			must(t, c.Create(ctx, x, o))
		}
	}
	before := x.DeepCopy()
	x.Status.Phase = "Deploying"
	must(t, c.Client.Status().Patch(ctx, x, client.MergeFrom(before)))
	_, err = c.Get(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: x.Namespace, Name: kube.SecretName(x.Name)}})
	must(t, err)
	_, err = c.Get(ctx, &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: x.Namespace, Name: p.Seed.Name}})
	must(t, err)
	lookAround(t, admin, c, x)
	_, err = c.Remove(ctx, x)
	must(t, err)
	must(t, c.Client.List(ctx, &v1alpha1.ReplicationExperimentList{}))
	_, err = c.Get(ctx, x.DeepCopy())
	must(t, err)
	must(t, c.Delete(ctx, x))
}

// lookAround reads what the cluster says, and removes pods and claims.
func lookAround(t *testing.T, admin client.Client, c *cluster.Cluster, x *v1alpha1.ReplicationExperiment) {
	t.Helper()
	ctx := t.Context()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: x.Namespace, Name: "default"}} // which pods are to have
	must(t, client.IgnoreAlreadyExists(admin.Create(ctx, account)))
	pod := &corev1.Pod{ObjectMeta: kube.Meta(x.Namespace, "a-pod", kube.ComponentNode, plan.Labels(x.Name))}
	pod.Spec.Containers = []corev1.Container{{Name: "a", Image: "a"}}
	must(t, admin.Create(ctx, pod))
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: kube.Meta(x.Namespace, "a-claim", kube.ComponentNode, plan.Labels(x.Name))}
	claim.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	claim.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: x.Spec.Topology.Storage.Size}
	must(t, admin.Create(ctx, claim))
	pods, err := c.Pods(ctx, x)
	if err != nil || len(pods) != 1 {
		t.Errorf("%d pods, %v", len(pods), err)
	}
	claims, err := c.Claims(ctx, x)
	if err != nil || len(claims) != 1 {
		t.Errorf("%d claims, %v", len(claims), err)
	}
	_, err = c.Get(ctx, pod)
	must(t, err)
	_, err = c.Refusals(ctx, x)
	must(t, err)
	_, err = c.LastEvent(ctx, pod)
	must(t, err)
	_, err = c.Machines(ctx, []string{"a"})
	must(t, err)
	if log := c.LogTail(ctx, pod, "a", false); strings.Contains(log, "forbidden") { // there is no machine that has one
		t.Error(log)
	}
	must(t, c.DeletePod(ctx, types.NamespacedName{Namespace: x.Namespace, Name: pod.Name}, pod.UID, ptr.To[int64](0)))
	until(t, "the pod is gone", func() bool { pods, err := c.Pods(ctx, x); return err == nil && len(pods) == 0 })
}
