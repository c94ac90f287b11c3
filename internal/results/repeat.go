package results

import (
	"sigs.k8s.io/yaml"

	"replab.dev/api/v1alpha1"
)

// Repeat is the experiment as YAML that can be applied again, even where the run was aborted or suspended.
func (r Results) Repeat() (string, error) {
	r.Spec.Abort, r.Spec.Suspend = false, false
	type metadata struct {
		Name string `json:"name"`
	}
	text, err := yaml.Marshal(struct {
		APIVersion string                             `json:"apiVersion"`
		Kind       string                             `json:"kind"`
		Metadata   metadata                           `json:"metadata"`
		Spec       v1alpha1.ReplicationExperimentSpec `json:"spec"`
	}{v1alpha1.GroupVersion.String(), "ReplicationExperiment", metadata{r.Experiment}, r.Spec})
	return string(text), err
}
