package charts_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/test/kubetest"
)

// noImage is what the notes say where nobody has given an image.
const noImage = "images.replab is not set"

func TestReleaseIsInstalledUpgradedAndUninstalled(t *testing.T) {
	server, binary, kubeconfig := kubetest.Client(t), helmBinary(t), kubetest.Kubeconfig(t)
	chart := filepath.Join(kubetest.Root(), "charts", "replab")
	release := func(args ...string) string {
		t.Helper()
		said, err := run(binary, append(args, "--kubeconfig", kubeconfig, "--namespace", "release")...)
		if err != nil {
			t.Fatalf("helm %v: %v", args, err)
		}
		return string(said)
	}
	deployment := &appsv1.Deployment{}
	deployment.Namespace, deployment.Name = "release", "replab-operator"
	config := &corev1.ConfigMap{}
	config.Namespace, config.Name = "release", "replab-operator-config"

	// The server has the CRD from elsewhere, as after `kubectl apply -k config/crd`.
	if notes := release("install", "replab", chart, "--create-namespace", "--take-ownership"); !strings.Contains(notes, noImage) {
		t.Errorf("the image is nowhere, and the notes are\n%s", notes)
	}
	if err := server.Get(t.Context(), client.ObjectKeyFromObject(deployment), deployment); err != nil {
		t.Error(err)
	}

	release("upgrade", "replab", chart, "--set", "leaderElection=false")
	if notes := release("upgrade", "replab", chart, "--set", "oneAtATime=Never,images.replab=registry.example/replab:1"); strings.Contains(notes, noImage) || !strings.Contains(notes, "kubectl replab run") {
		t.Errorf("the image has its name, and the notes are\n%s", notes)
	}
	if err := server.Get(t.Context(), client.ObjectKeyFromObject(config), config); err != nil {
		t.Error(err)
	}
	if text := config.Data["operator.json"]; !strings.Contains(text, `"oneAtATime": "Never"`) {
		t.Errorf("after the upgrade operator.json is %s", text)
	}

	release("uninstall", "replab")
	if err := server.Get(t.Context(), client.ObjectKeyFromObject(deployment), deployment); !apierrors.IsNotFound(err) {
		t.Errorf("after the uninstallation the Deployment answers %v, want that it is not found", err)
	}
	if err := server.List(t.Context(), &v1alpha1.ReplicationExperimentList{}); err != nil {
		t.Errorf("the uninstallation took the CRD, and all experiments with it: %v", err)
	}
}

// TestAnUpgradeOfAnOperatorThatElectsNobodyEndsTheOldOneFirst: two at once would both take the same runs for theirs.
func TestAnUpgradeOfAnOperatorThatElectsNobodyEndsTheOldOneFirst(t *testing.T) {
	t.Parallel()
	for _, elect := range []bool{true, false} {
		deployment := render(t, "--set", fmt.Sprintf("leaderElection=%t", elect))["Deployment replab-operator"].Object
		surge, found, _ := unstructured.NestedFieldNoCopy(deployment, "spec", "strategy", "rollingUpdate", "maxSurge")
		if found == elect || found && fmt.Sprint(surge) != "0" {
			t.Errorf("leaderElection=%t: maxSurge %v, set: %t", elect, surge, found)
		}
	}
}

func TestAChangeOfTheConfigurationRestartsTheOperator(t *testing.T) {
	t.Parallel()
	annotation := func(args ...string) string {
		text, _, _ := unstructured.NestedString(render(t, args...)["Deployment replab-operator"].Object, "spec", "template", "metadata", "annotations", "replab.dev/config")
		return text
	}
	if before, after := annotation(), annotation("--set", "oneAtATime=Never"); before == "" || before == after {
		t.Errorf("the pod's annotation is %q before and %q after", before, after)
	}
}

// TestAnOperatorOfSomeNamespacesHasNoRightsElsewhere, and in these what the ClusterRole would give it, machines apart.
func TestAnOperatorOfSomeNamespacesHasNoRightsElsewhere(t *testing.T) {
	t.Parallel()
	objects := render(t, "--set", "watchNamespaces={team-a},rbac.aggregate=false,metrics.secure=false")
	for name := range objects {
		if strings.HasPrefix(name, "ClusterRole") {
			t.Errorf("%s is made", name)
		}
	}
	binding, role := objects["RoleBinding replab-operator"], objects["Role replab-operator"]
	if binding == nil || role == nil || binding.GetNamespace() != "team-a" || role.GetNamespace() != "team-a" {
		t.Fatalf("role %v and binding %v, want both in team-a", role, binding)
	}
	everywhere := render(t)["ClusterRole replab-operator"].Object["rules"].([]any)
	here := role.Object["rules"].([]any)
	machines := slices.IndexFunc(everywhere, func(rule any) bool { return toJSON(t, rule.(map[string]any)["resources"]) == `["nodes"]` })
	if machines < 0 || toJSON(t, here) != toJSON(t, slices.Delete(slices.Clone(everywhere), machines, machines+1)) {
		t.Errorf("rules %v, want those of the ClusterRole but for machines: %v", here, everywhere)
	}
}

// TestTwoReleasesInOneNamespaceElectApart: each has a lock of its own, and the right to it.
func TestTwoReleasesInOneNamespaceElectApart(t *testing.T) {
	t.Parallel()
	for _, release := range []string{"replab", "second"} {
		out, err := helmAs(t, release)
		if err != nil {
			t.Fatal(err)
		}
		objects := parse(t, out)
		text, _, err := unstructured.NestedString(objects["ConfigMap "+release+"-operator-config"].Object, "data", "operator.json")
		if err != nil || !strings.Contains(text, `"name": "`+release+`-operator"`) {
			t.Errorf("release %s: %v, operator.json %s", release, err, text)
		}
		rules := toJSON(t, objects["Role "+release+"-operator-leader-election"].Object["rules"])
		lease := release + "-operator-leader"
		if _, there := objects["Lease "+lease]; !there || !strings.Contains(rules, `"`+lease+`"`) {
			t.Errorf("release %s may touch the locks %s, and has a Lease of its own: %t", release, rules, there)
		}
	}
}

// TestALongNameOfAReleaseMakesNamesThatKubernetesTakes: Helm takes up to 53 characters, and a name that is cut off could end in a hyphen.
func TestALongNameOfAReleaseMakesNamesThatKubernetesTakes(t *testing.T) {
	t.Parallel()
	for _, length := range []int{44, 51, 52, 53} {
		out, err := helmAs(t, strings.Repeat("a", length), "--set", everything)
		if err != nil {
			t.Fatal(err)
		}
		for key, object := range parse(t, out) {
			if problems := validation.IsDNS1123Subdomain(object.GetName()); len(problems) > 0 && !strings.HasPrefix(object.GetAPIVersion(), "rbac.") {
				t.Errorf("a release of %d characters has %s: %v", length, key, problems)
			}
		}
	}
}
