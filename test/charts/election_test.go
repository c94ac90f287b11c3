package charts_test

import (
	"path/filepath"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/test/kubetest"
)

// TestTheLeaseOfTheElectionComesAndGoesWithTheRelease, and in between it is the operators', by the rights that the chart gives them: an upgrade leaves
// who holds it. Once the release is gone an operator that still ends cannot make it again.
func TestTheLeaseOfTheElectionComesAndGoesWithTheRelease(t *testing.T) {
	server, key := kubetest.Client(t), client.ObjectKey{Namespace: "elected", Name: "elected-operator-leader"}
	helm := func(args ...string) {
		t.Helper()
		if _, err := run(helmBinary(t), append(args, "--kubeconfig", kubetest.Kubeconfig(t), "--namespace", key.Namespace)...); err != nil {
			t.Fatalf("helm %v: %v", args, err)
		}
	}
	chart, values := filepath.Join(kubetest.Root(), "charts", "replab"), "crds.install=false,rbac.aggregate=false,watchNamespaces={default}"
	helm("install", "elected", chart, "--create-namespace", "--set", values)
	lock := operatorsLock(t, key)
	if held, _, err := lock.Get(t.Context()); err != nil || held.HolderIdentity != "" {
		t.Fatalf("at first the Lease is held by %+v, %v", held, err)
	}
	now := metav1.Now()
	if err := lock.Update(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: lock.Identity(), LeaseDurationSeconds: 15, AcquireTime: now, RenewTime: now}); err != nil {
		t.Fatal(err)
	}
	helm("upgrade", "elected", chart, "--set", values+",replicas=2")
	if held, _, err := lock.Get(t.Context()); err != nil || held.HolderIdentity != lock.Identity() {
		t.Errorf("after an upgrade the Lease is held by %+v, %v", held, err)
	}

	helm("uninstall", "elected")
	if err := server.Get(t.Context(), key, &coordinationv1.Lease{}); !apierrors.IsNotFound(err) {
		t.Errorf("the release is gone, and its Lease is there: %v", err)
	}
	until(t, "an operator that still ends makes no Lease", func() bool {
		err := lock.Create(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: lock.Identity()})
		if err == nil {
			t.Log("a Lease was made, since the API server did not know yet that the right is gone")
			_ = server.Delete(t.Context(), &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}})
		}
		return apierrors.IsForbidden(err)
	})
}

// operatorsLock is client-go's, with the operator's rights.
func operatorsLock(t *testing.T, key client.ObjectKey) *resourcelock.LeaseLock {
	t.Helper()
	config := kubetest.Config(t)
	config.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:" + key.Namespace + ":elected-operator", Groups: []string{"system:serviceaccounts", "system:authenticated"}}
	leases, err := coordinationv1client.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return &resourcelock.LeaseLock{
		LeaseMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}, Client: leases,
		LockConfig: resourcelock.ResourceLockConfig{Identity: "first"},
	}
}

func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not so within a minute: %s", what)
		}
	}
}
