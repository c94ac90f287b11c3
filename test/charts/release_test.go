package charts_test

import (
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/test/kubetest"
)

func TestReleaseIsInstalledUpgradedAndUninstalled(t *testing.T) {
	server, binary, kubeconfig := kubetest.Client(t), helmBinary(t), kubetest.Kubeconfig(t)
	chart := filepath.Join(kubetest.Root(), "charts", "replab")
	release := func(args ...string) {
		t.Helper()
		if _, err := run(binary, append(args, "--kubeconfig", kubeconfig, "--namespace", "release")...); err != nil {
			t.Fatalf("helm %v: %v", args, err)
		}
	}
	deployment := &appsv1.Deployment{}
	deployment.Namespace, deployment.Name = "release", "replab-operator"
	config := &corev1.ConfigMap{}
	config.Namespace, config.Name = "release", "replab-operator-config"

	// The server has the CRD from elsewhere, as after `kubectl apply -k config/crd`.
	release("install", "replab", chart, "--create-namespace", "--take-ownership")
	if err := server.Get(t.Context(), client.ObjectKeyFromObject(deployment), deployment); err != nil {
		t.Error(err)
	}

	release("upgrade", "replab", chart, "--set", "leaderElection=false")
	release("upgrade", "replab", chart, "--set", "oneAtATime=Never")
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
