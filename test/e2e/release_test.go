//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/e2e-framework/klient"

	"replab.dev/test/experiment"
)

// releaseName is the release of the test, and its namespace: another operator beside the one that the other tests use.
const releaseName = "replab-release-e2e"

// TestAReleaseLeavesNothingBehind installs the last commit's chart, upgrades it to this one with all that is off by default, and uninstalls it.
// The operator runs in each, with rights in its own namespace alone. The CRD is not touched: the experiments of other tests need it.
func TestAReleaseLeavesNothingBehind(t *testing.T) {
	inFull(t)
	binary := os.Getenv("REPLAB_HELM")
	if binary == "" {
		t.Skip("REPLAB_HELM is not set: `make e2e-full` builds Helm")
	}
	c, err := klient.NewWithKubeConfigFile(os.Getenv("KUBECONFIG"))
	check(t, err)
	ctx := t.Context()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: releaseName}}
	check(t, c.Resources().Create(ctx, namespace))
	t.Cleanup(func() { check(t, c.Resources().Delete(context.WithoutCancel(ctx), namespace)) })

	here := []string{
		"--namespace", releaseName, "--wait", "--timeout", "5m", "--set", "crds.install=false,oneAtATime=Never,images.replab=" + image(ctx, t, c),
		"--set", "watchNamespaces={" + releaseName + "}",
	}
	check(t, helm(binary, append([]string{"install", releaseName, lastChart(t)}, here...)...))
	check(t, helm(binary, append([]string{
		"upgrade", releaseName, filepath.Join(experiment.Root(), "charts", "replab"),
		"--set", "replicas=2,podDisruptionBudget.enabled=true,networkPolicy.ingress.enabled=true,networkPolicy.egress.enabled=true",
	}, here...)...))
	if found := left(ctx, t, c.RESTConfig()); !slices.Contains(found, "networkpolicies "+releaseName+"-operator") {
		t.Fatalf("the release has %q: what it makes is not found", found)
	}
	check(t, helm(binary, "uninstall", releaseName, "--namespace", releaseName, "--wait", "--timeout", "5m"))

	found := left(ctx, t, c.RESTConfig())
	for deadline := time.Now().Add(time.Minute); len(found) > 0 && time.Now().Before(deadline); {
		time.Sleep(time.Second) // the pods go after their Deployment
		found = left(ctx, t, c.RESTConfig())
	}
	if len(found) > 0 {
		t.Errorf("after `helm uninstall` there are %q, want nothing", found)
	}
}

// image of the operator that the other tests use.
func image(ctx context.Context, t *testing.T, c klient.Client) string {
	t.Helper()
	var operator appsv1.Deployment
	check(t, c.Resources().Get(ctx, "replab-operator", "replab-system", &operator))
	return operator.Spec.Template.Spec.Containers[0].Image
}

// lastChart is the one of the commit before, or, in a checkout that does not have that, the one of this.
func lastChart(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	cmd := exec.Command("bash", "-c", `set -o pipefail; git archive HEAD~1 charts/replab | tar -x -C "$0"`, folder)
	cmd.Dir = experiment.Root()
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Logf("upgraded from the same chart, since the last commit is not here: %v: %s", err, said)
		return filepath.Join(experiment.Root(), "charts", "replab")
	}
	return filepath.Join(folder, "charts", "replab")
}

func helm(binary string, args ...string) error {
	if said, err := exec.Command(binary, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("helm %v: %w: %s", args, err, said)
	}
	return nil
}

// left are the objects of any kind, in any namespace or in none, that the release has labelled or that are called after it. Events expire by
// themselves, and the namespace is the test's own.
func left(ctx context.Context, t *testing.T, config *rest.Config) (found []string) {
	t.Helper()
	client, err := dynamic.NewForConfig(config)
	check(t, err)
	kinds, err := discovery.NewDiscoveryClientForConfigOrDie(config).ServerPreferredResources()
	if partly := (*discovery.ErrGroupDiscoveryFailed)(nil); !errors.As(err, &partly) {
		check(t, err)
	}
	for _, group := range kinds {
		version, err := schema.ParseGroupVersion(group.GroupVersion)
		check(t, err)
		for _, kind := range group.APIResources {
			if !slices.Contains(kind.Verbs, "list") || kind.Name == "events" || kind.Name == "namespaces" {
				continue
			}
			list, err := client.Resource(version.WithResource(kind.Name)).List(ctx, metav1.ListOptions{})
			check(t, err)
			for _, o := range list.Items {
				if o.GetLabels()["app.kubernetes.io/instance"] == releaseName || strings.HasPrefix(o.GetName(), releaseName) {
					found = append(found, kind.Name+" "+o.GetName())
				}
			}
		}
	}
	slices.Sort(found)
	return found
}
