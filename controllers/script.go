package controllers

import (
	"context"
	"crypto/sha256"
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// noteScript writes down what is in the user's own k6 script, by which runs are compared. One that is gone by now has nothing in it:
// k6 will say so.
func noteScript(ctx context.Context, run *Run) error {
	s := run.Spec.Load.Script
	if s == nil {
		return nil
	}
	m := &corev1.ConfigMap{}
	m.Namespace, m.Name = run.Namespace, s.ConfigMapKeyRef.Name
	if _, err := run.Cluster.Get(ctx, m); err != nil {
		return fmt.Errorf("read the script's ConfigMap %s: %w", m.Name, err)
	}
	if text, found := m.Data[s.ConfigMapKeyRef.Key]; found {
		run.Status.ScriptHash = fmt.Sprintf("%x", sha256.Sum256([]byte(text)))
	}
	return nil
}
