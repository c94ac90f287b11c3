package experiment

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
	if text, found := mounted(m, s.ConfigMapKeyRef.Key); found {
		run.Status.ScriptHash = fmt.Sprintf("%x", sha256.Sum256(text))
	}
	return nil
}

// mounted is the file that a volume of the ConfigMap has for a key, of data or of binaryData.
func mounted(m *corev1.ConfigMap, key string) (file []byte, found bool) {
	if text, found := m.Data[key]; found {
		return []byte(text), true
	}
	file, found = m.BinaryData[key]
	return file, found
}
