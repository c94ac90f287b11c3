//go:build e2e

package e2e

import (
	"context"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/e2e-framework/klient/k8s"
	"sigs.k8s.io/e2e-framework/pkg/envconf"
	"sigs.k8s.io/e2e-framework/pkg/features"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
)

// ends waits until a run that cannot go on has said why, and has removed everything.
func ends(ctx context.Context, t *testing.T, cfg *envconf.Config, x *v1alpha1.ReplicationExperiment, step, reason, text string) {
	t.Helper()
	await(ctx, t, cfg, x, terminalTimeout, "over", func() bool { return x.Status.Verdict != "" })
	found := condition(x, step)
	if x.Status.Verdict != v1alpha1.VerdictInconclusive || found.Reason != reason || !strings.Contains(found.Message, text) {
		t.Errorf("verdict %s; condition %s is %s: %s", x.Status.Verdict, step, found.Reason, found.Message)
	}
	if x.Status.Load != nil || x.Status.Writes != nil {
		t.Errorf("figures are shown that nobody measured: %+v", x.Status)
	}
	await(ctx, t, cfg, x, removeTimeout, "complete", complete(x))
	results := "ConfigMap " + x.Status.Results // of what was measured, if anything was
	if left := slices.DeleteFunc(remaining(ctx, t, cfg, kube.LabelExperiment+"="+x.Name), func(o string) bool { return o == results }); len(left) > 0 {
		t.Errorf("complete, but there still are %v", left)
	}
	remove(ctx, t, cfg, x)
}

const silentProvisioner = "replab.invalid/none"

// silentClass is a storage class whose provisioner does not exist.
func silentClass(suffix string, mode storagev1.VolumeBindingMode) *storagev1.StorageClass {
	return &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: namespace + "-" + suffix}, Provisioner: silentProvisioner, VolumeBindingMode: &mode}
}

// fullLedger gives the recorder's pod, in place of its volume, one in memory with room for some two thousand writes.
const fullLedger = `{"spec": {"template": {"spec": {"volumes": [{"name": "ledger", "emptyDir": {"medium": "Memory", "sizeLimit": "32Ki"}}]}}}}`

// runOutOfSpace makes the recorder's volume too small while the users are loaded, as an administrator could: the operator
// re-applies nothing of what it has deployed. Under the load the volume gets full.
func runOutOfSpace(t *testing.T) {
	sideBySide(t, features.New("a recorder without space").
		Assess("ends with the reason and leaves nothing", func(ctx context.Context, t *testing.T, cfg *envconf.Config) context.Context {
			x := variant(t, "single", "no-space", 60, func(s *v1alpha1.ReplicationExperimentSpec) {
				s.Topology.Storage = v1alpha1.StorageSpec{Medium: v1alpha1.MediumMemory, Size: s.Topology.Storage.Size} // else the ledger is on a claim
				s.Dataset.Users, s.Load.Mix = 100_000, v1alpha1.MixSpec{Register: 1}
				s.Load.Stages[0].RequestsPerSecond = 100
				s.Keep = v1alpha1.KeepNever
			})
			x = create(ctx, t, cfg, x)
			await(ctx, t, cfg, x, completeTimeout, "deployed", func() bool {
				return x.Status.Verdict != "" || condition(x, v1alpha1.ConditionDeployed).Status == metav1.ConditionTrue
			})
			recorder := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: x.Name + "-recorder", Namespace: namespace}}
			check(t, cfg.Client().Resources().Patch(ctx, recorder, k8s.Patch{PatchType: types.StrategicMergePatchType, Data: []byte(fullLedger)}))
			await(ctx, t, cfg, x, terminalTimeout, "under load", func() bool {
				return x.Status.Verdict != "" || condition(x, v1alpha1.ConditionLoadStarted).Status == metav1.ConditionTrue
			})
			ends(ctx, t, cfg, x, v1alpha1.ConditionLoadFinished, v1alpha1.ReasonRecorderFailed, "no space left on device")
			return ctx
		}).Feature())
}
