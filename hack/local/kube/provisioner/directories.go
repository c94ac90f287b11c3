package provisioner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/sig-storage-lib-external-provisioner/v13/controller"
)

// directories provisions volumes as folders below root, on the machine that it runs on.
type directories struct {
	root string
	// node is the only node whose volumes it makes and removes: each has a provisioner of its own.
	node string
}

var (
	_ controller.Provisioner   = (*directories)(nil)
	_ controller.Qualifier     = (*directories)(nil)
	_ controller.DeletionGuard = (*directories)(nil)
)

// ShouldProvision leaves claims of other nodes to their provisioners.
func (d *directories) ShouldProvision(_ context.Context, claim *v1.PersistentVolumeClaim) bool {
	return claim.Annotations[selectedNode] == d.node
}

// ShouldDelete leaves volumes of other nodes to their provisioners.
func (d *directories) ShouldDelete(_ context.Context, pv *v1.PersistentVolume) bool {
	return reflect.DeepEqual(pv.Spec.NodeAffinity, on(d.node))
}

// selectedNode is where the scheduler writes the node of the first pod.
const selectedNode = "volume.kubernetes.io/selected-node"

// Provision makes the folder and describes it as a local volume. Local, not
// hostPath, because the kubelet then also honours a pod's fsGroup. A folder that
// exists already is taken over: the controller repeats a call that it lost the
// answer of, and the name carries the claim's UID.
func (d *directories) Provision(_ context.Context, o controller.ProvisionOptions) (*v1.PersistentVolume, controller.ProvisioningState, error) {
	if o.SelectedNodeName == "" {
		return nil, controller.ProvisioningFinished, errors.New("no node was selected: the storage class must have volumeBindingMode WaitForFirstConsumer")
	}
	path, err := d.path(o.PVName)
	if err != nil {
		return nil, controller.ProvisioningFinished, err
	}
	if err := makeOpen(path); err != nil {
		return nil, controller.ProvisioningFinished, err
	}
	return volume(o, path), controller.ProvisioningFinished, nil
}

// Delete removes the folder with all that is in it. One that is gone already is
// as good as removed.
func (d *directories) Delete(_ context.Context, pv *v1.PersistentVolume) error {
	path, err := d.path(pv.Name)
	if err != nil {
		return err
	}
	return os.RemoveAll(path)
}

// path is where the volume lies. It is derived from the name alone and never
// read from the object: a forged object must not direct a removal elsewhere.
func (d *directories) path(pv string) (string, error) {
	if pv == "" || pv != filepath.Base(pv) || pv == "." || pv == ".." {
		return "", fmt.Errorf("%q is no name of a volume", pv)
	}
	return filepath.Join(d.root, pv), nil
}

// makeOpen makes a folder that every user may write. The mode is set apart from
// the making, since the umask takes part in that.
func makeOpen(path string) error {
	if err := os.MkdirAll(path, 0o777); err != nil {
		return fmt.Errorf("make the volume's folder: %w", err)
	}
	if err := os.Chmod(path, 0o777); err != nil {
		return fmt.Errorf("open the volume's folder: %w", err)
	}
	return nil
}

func volume(o controller.ProvisionOptions, path string) *v1.PersistentVolume {
	return &v1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: o.PVName},
		Spec: v1.PersistentVolumeSpec{
			PersistentVolumeReclaimPolicy: *o.StorageClass.ReclaimPolicy,
			AccessModes:                   o.PVC.Spec.AccessModes,
			MountOptions:                  o.StorageClass.MountOptions,
			Capacity: v1.ResourceList{
				v1.ResourceStorage: o.PVC.Spec.Resources.Requests[v1.ResourceStorage],
			},
			PersistentVolumeSource: v1.PersistentVolumeSource{Local: &v1.LocalVolumeSource{Path: path}},
			NodeAffinity:           on(o.SelectedNodeName),
		},
	}
}

func on(node string) *v1.VolumeNodeAffinity {
	return &v1.VolumeNodeAffinity{Required: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{
		MatchExpressions: []v1.NodeSelectorRequirement{{
			Key:      v1.LabelHostname,
			Operator: v1.NodeSelectorOpIn,
			Values:   []string{node},
		}},
	}}}}
}
