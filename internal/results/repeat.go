package results

import (
	"replab.dev/api/v1alpha1"
	"replab.dev/internal/plain"
)

// Repeat is the experiment as YAML that can be applied again, even where the run was aborted or suspended.
func (r Results) Repeat() (string, error) {
	r.Spec.Abort, r.Spec.Suspend = false, false
	type metadata struct {
		Name string `json:"name"`
	}
	return plain.YAML(struct {
		APIVersion string                             `json:"apiVersion"`
		Kind       string                             `json:"kind"`
		Metadata   metadata                           `json:"metadata"`
		Spec       v1alpha1.ReplicationExperimentSpec `json:"spec"`
	}{v1alpha1.GroupVersion.String(), "ReplicationExperiment", metadata{r.Experiment}, r.Spec})
}
