package provisioner

import (
	"os"
	"path/filepath"
	"testing"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/sig-storage-lib-external-provisioner/v13/controller"
)

func options(node string) controller.ProvisionOptions {
	policy := v1.PersistentVolumeReclaimDelete
	claim := &v1.PersistentVolumeClaim{}
	claim.Spec.Resources.Requests = v1.ResourceList{v1.ResourceStorage: resource.MustParse("1Gi")}
	return controller.ProvisionOptions{
		StorageClass: &storagev1.StorageClass{ReclaimPolicy: &policy}, PVName: "pvc-1", PVC: claim, SelectedNodeName: node,
	}
}

func TestProvisionAndDelete(t *testing.T) {
	d := &directories{root: t.TempDir()}
	pv, _, err := d.Provision(t.Context(), options("node"))
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(pv.Spec.Local.Path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o777 {
		t.Errorf("mode %s: a pod that is not root could not write", info.Mode())
	}
	if _, _, err := d.Provision(t.Context(), options("node")); err != nil {
		t.Errorf("a repeated call: %v", err)
	}
	// Where the object says the volume lies must not decide what is removed.
	other := t.TempDir()
	pv.Spec.Local.Path = other
	for range 2 {
		if err := d.Delete(t.Context(), pv); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(other); err != nil {
		t.Error("a folder outside the root was removed")
	}
	if left, _ := filepath.Glob(filepath.Join(d.root, "*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestDeleteStaysInside(t *testing.T) {
	d := &directories{root: filepath.Join(t.TempDir(), "volumes")}
	for _, name := range []string{"", ".", "..", "../other", "/etc"} {
		if err := d.Delete(t.Context(), &v1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}}); err == nil {
			t.Errorf("%q was accepted as the name of a volume", name)
		}
	}
}

func TestProvisionNeedsANode(t *testing.T) {
	d := &directories{root: t.TempDir()}
	if _, state, err := d.Provision(t.Context(), options("")); err == nil || state != controller.ProvisioningFinished {
		t.Errorf("got %v, %v", state, err)
	}
}

func TestEachNodesProvisionerServesItsOwnVolumes(t *testing.T) {
	claim := &v1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{selectedNode: "a"}}}
	pv := volume(options("a"), "/volumes/pvc-1")
	for node, want := range map[string]bool{"": false, "a": true, "b": false} {
		d := &directories{node: node}
		if d.ShouldProvision(t.Context(), claim) != want || d.ShouldDelete(t.Context(), pv) != want {
			t.Errorf("the provisioner of node %q: want %v for a volume of node a", node, want)
		}
	}
}
