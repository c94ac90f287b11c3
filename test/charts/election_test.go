package charts_test

import (
	"bytes"
	"context"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/controllers"
	"replab.dev/test/kubetest"
)

// elected is a release, its namespace, and what its operator and its Lease are called after.
const elected = "elected"

// TestTheLeaseOfTheElectionBelongsToTheDeployment, by the rights that the chart gives the operator in its own namespace and with which it may
// change nothing but that Lease: `helm uninstall` does not know of it. The API server of the tests enforces who may say whose an object is.
func TestTheLeaseOfTheElectionBelongsToTheDeployment(t *testing.T) {
	server, ctx := kubetest.Client(t), t.Context()
	if _, err := run(helmBinary(t), "install", elected, filepath.Join(kubetest.Root(), "charts", "replab"), "--kubeconfig", kubetest.Kubeconfig(t), "--namespace", elected,
		"--create-namespace", "--set", "crds.install=false,rbac.aggregate=false,watchNamespaces={default}"); err != nil {
		t.Fatal(err)
	}
	deployment, lease := &appsv1.Deployment{}, &coordinationv1.Lease{}
	key := client.ObjectKey{Namespace: elected, Name: elected + "-operator"}
	if err := server.Get(ctx, key, deployment); err != nil {
		t.Fatal(err)
	}
	lease.Namespace, lease.Name = key.Namespace, key.Name
	if err := server.Create(ctx, lease); err != nil { // as an operator of an earlier release made it
		t.Fatal(err)
	}
	config := kubetest.Config(t)
	config.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:" + elected + ":" + key.Name, Groups: []string{"system:serviceaccounts", "system:authenticated"}}
	lock, err := controllers.Lock(ctx, config, key.Namespace, key.Name)
	if err != nil {
		t.Fatal(err)
	}
	owner := func(when string, want ...metav1.OwnerReference) {
		t.Helper()
		if err := server.Get(ctx, key, lease); err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		if len(lease.OwnerReferences) != len(want) || len(want) > 0 && lease.OwnerReferences[0] != want[0] {
			t.Errorf("%s the Lease belongs to %+v, want %+v", when, lease.OwnerReferences, want)
		}
	}
	mine := metav1.OwnerReference{APIVersion: "apps/v1", Kind: "Deployment", Name: deployment.Name, UID: deployment.UID}

	write(t, lock)
	owner("once it is written", mine)
	lease.OwnerReferences = nil
	if err := server.Update(ctx, lease); err != nil {
		t.Fatal(err)
	}
	write(t, lock)
	owner("taken off by somebody")
	if err := server.Delete(ctx, lease); err != nil {
		t.Fatal(err)
	}
	if err := lock.Create(ctx, record(lock)); err != nil {
		t.Fatal(err)
	}
	owner("made anew", mine)
	write(t, lock)
	owner("renewed", mine)
}

// TestAnOperatorWithoutADeploymentElectsAllTheSame: one that runs by something else, or may not read what it runs by.
func TestAnOperatorWithoutADeploymentElectsAllTheSame(t *testing.T) {
	server, ctx := kubetest.Client(t), t.Context()
	if err := server.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "without-deployment"}}); err != nil {
		t.Fatal(err)
	}
	nobody := kubetest.Config(t)
	nobody.Impersonate = rest.ImpersonationConfig{UserName: "nobody"}
	if _, err := controllers.Lock(ctx, nobody, "without-deployment", "replab-operator"); err != nil {
		t.Errorf("who may read nothing: %v", err)
	}
	lock, err := controllers.Lock(ctx, kubetest.Config(t), "without-deployment", "replab-operator")
	if err != nil {
		t.Fatal(err)
	}
	if err := lock.Create(ctx, record(lock)); err != nil {
		t.Fatal(err)
	}
	lease := &coordinationv1.Lease{}
	if err := server.Get(ctx, client.ObjectKey{Namespace: "without-deployment", Name: "replab-operator"}, lease); err != nil || len(lease.OwnerReferences) > 0 {
		t.Errorf("the Lease belongs to %+v, %v", lease.OwnerReferences, err)
	}
}

// write the Lease as the elector does: it is read before.
func write(t *testing.T, lock *resourcelock.LeaseLock) {
	t.Helper()
	if _, _, err := lock.Get(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := lock.Update(t.Context(), record(lock)); err != nil {
		t.Fatal(err)
	}
}

func record(lock *resourcelock.LeaseLock) resourcelock.LeaderElectionRecord {
	now := metav1.NewTime(time.Now())
	return resourcelock.LeaderElectionRecord{HolderIdentity: lock.Identity(), LeaseDurationSeconds: 15, AcquireTime: now, RenewTime: now}
}

// TestAnUninstalledReleaseLeavesNoLease with Kubernetes' own garbage collector, also where the operator makes the Lease once more while it ends: here
// it is one that nobody ends, who loses no right, and who looks each 50 ms.
func TestAnUninstalledReleaseLeavesNoLease(t *testing.T) {
	server, kubeconfig, key := kubetest.Client(t), kubetest.Kubeconfig(t), client.ObjectKey{Namespace: "elected-gone", Name: "replab-operator"}
	collectGarbage(t, kubeconfig)
	helm := func(args ...string) {
		t.Helper()
		if _, err := run(helmBinary(t), append(args, "--kubeconfig", kubeconfig, "--namespace", key.Namespace)...); err != nil {
			t.Fatalf("helm %v: %v", args, err)
		}
	}
	helm("install", "replab", filepath.Join(kubetest.Root(), "charts", "replab"), "--create-namespace", "--set", "crds.install=false,rbac.aggregate=false,watchNamespaces={default}")
	lock, err := controllers.Lock(t.Context(), kubetest.Config(t), key.Namespace, key.Name)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	leads, over := make(chan struct{}), make(chan struct{})
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: lock, LeaseDuration: 3 * time.Second, RenewDeadline: 2 * time.Second, RetryPeriod: 50 * time.Millisecond, ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) { close(leads) }, OnStoppedLeading: func() {}},
	})
	if err != nil {
		t.Fatal(err)
	}
	go func() { defer close(over); elector.Run(ctx) }()
	<-leads
	lease := &coordinationv1.Lease{}
	if err := server.Get(t.Context(), key, lease); err != nil {
		t.Fatal(err)
	}
	first := lease.UID

	helm("uninstall", "replab")
	until(t, "the Lease was made once more", func() bool { return server.Get(t.Context(), key, lease) == nil && lease.UID != first })
	stop()
	<-over
	until(t, "the Lease is gone", func() bool { return apierrors.IsNotFound(server.Get(t.Context(), key, lease)) })
}

// collectGarbage runs Kubernetes' garbage collector on the tests' API server until the test is over.
func collectGarbage(t *testing.T, kubeconfig string) {
	t.Helper()
	binary := need(t, "kube-controller-manager", "REPLAB_REQUIRE_ENVTEST", []string{filepath.Join(kubetest.Assets(), "kube-controller-manager")})
	cmd := exec.Command(binary, "--kubeconfig", kubeconfig, "--controllers", "garbage-collector-controller", "--leader-elect=false", "--secure-port=0")
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("kube-controller-manager: %s", said.String())
		}
	})
}

func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not so within a minute: %s", what)
		}
	}
}
