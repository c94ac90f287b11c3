package experiment

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/decode"
)

// referencePatience is how long an experiment waits for what it names: files that are applied together come one after another.
const referencePatience = 10 * time.Second

// reference is an object that a spec names, and the key in it if there is one.
type reference struct {
	field  string
	kind   string
	object client.Object
	key    string
	file   bool // the key is mounted: it may be one of binaryData, of which Kubernetes makes no variables
}

// references looks for what the spec names before anything is deployed for it, and before it waits for its turn.
func references(ctx context.Context, run *Run) (Outcome, error) {
	for _, r := range namedBy(run.ReplicationExperiment) {
		there, err := run.Cluster.Get(ctx, r.object)
		var undecodable *decode.Error
		if errors.As(err, &undecodable) {
			return Terminal(v1alpha1.ReasonSpecRefused, "spec.%s: %s %s cannot be decoded: %v; correct it first", r.field, r.kind, r.object.GetName(), err), nil
		}
		if err != nil {
			return refused(run, fmt.Errorf("spec.%s: read %s %s: %w", r.field, r.kind, r.object.GetName(), err))
		}
		if there && (r.key == "" || r.hasKey()) {
			continue
		}
		what := fmt.Sprintf("%s %s", r.kind, r.object.GetName())
		if r.key != "" {
			what += " with a key " + r.key
		}
		if run.Now().Sub(run.CreationTimestamp.Time) < referencePatience {
			return Wait(time.Second, v1alpha1.ReasonReferenceMissing, "spec.%s: waiting for %s", r.field, what), nil
		}
		return Terminal(v1alpha1.ReasonNotFound, "spec.%s: %s does not exist in namespace %s: create it first", r.field, what, run.Namespace), nil
	}
	return Done(), nil
}

// namedBy are the objects that a spec names, in the spec's order.
func namedBy(x *v1alpha1.ReplicationExperiment) []reference {
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: x.Namespace, Name: name} }
	configMap := func(field, name, key string) reference {
		return reference{field: field, kind: "ConfigMap", object: &corev1.ConfigMap{ObjectMeta: meta(name)}, key: key}
	}
	var named []reference
	if s := x.Spec.Load.Script; s != nil {
		script := configMap("load.script.configMapKeyRef", s.ConfigMapKeyRef.Name, s.ConfigMapKeyRef.Key)
		script.file = true
		named = append(named, script)
		for _, v := range s.Env {
			field := "load.script.env[" + v.Name + "].valueFrom"
			switch {
			case v.ValueFrom == nil:
			case v.ValueFrom.SecretKeyRef != nil:
				ref := v.ValueFrom.SecretKeyRef
				named = append(named, reference{field: field, kind: "Secret", object: &corev1.Secret{ObjectMeta: meta(ref.Name)}, key: ref.Key})
			case v.ValueFrom.ConfigMapKeyRef != nil:
				named = append(named, configMap(field, v.ValueFrom.ConfigMapKeyRef.Name, v.ValueFrom.ConfigMapKeyRef.Key))
			}
		}
	}
	if b := x.Spec.Baseline; b != nil {
		named = append(named, reference{field: "baseline.name", kind: "ReplicationExperiment", object: &v1alpha1.ReplicationExperiment{ObjectMeta: meta(b.Name)}})
	}
	return named
}

func (r reference) hasKey() bool {
	found := false
	switch o := r.object.(type) {
	case *corev1.ConfigMap:
		if r.file {
			_, found = mounted(o, r.key)
		} else {
			_, found = o.Data[r.key]
		}
	case *corev1.Secret:
		_, found = o.Data[r.key]
	}
	return found
}
