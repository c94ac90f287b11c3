package suite

import (
	"encoding/json"
	"fmt"
	"slices"

	jsonpatch "github.com/evanphx/json-patch/v5"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
)

// Spec of a variant's experiment as a person would write it: the template with the variant's patch.
func Spec(spec *v1alpha1.ReplicationSuiteSpec, variant string) (map[string]any, error) {
	i := slices.IndexFunc(spec.Variants, func(v v1alpha1.SuiteVariant) bool { return v.Name == variant })
	if i < 0 {
		return nil, fmt.Errorf("variant %s is not in spec.variants", variant)
	}
	text := spec.Template.Spec.Raw
	if patch := spec.Variants[i].Patch; patch != nil {
		merged, err := jsonpatch.MergePatch(text, patch.Raw)
		if err != nil {
			return nil, fmt.Errorf("merge spec.variants[%d].patch into spec.template.spec: %w", i, err)
		}
		text = merged
	}
	var merged map[string]any
	if err := utiljson.Unmarshal(text, &merged); err != nil {
		return nil, fmt.Errorf("decode the spec of variant %s: %w", variant, err)
	}
	return merged, nil
}

// Experiment is the object of a run: owned by the suite, with the faults of its round.
func Experiment(suite *v1alpha1.ReplicationSuite, r v1alpha1.TrialRun) (*unstructured.Unstructured, error) {
	spec, err := Spec(&suite.Spec, r.Variant)
	if err != nil {
		return nil, err
	}
	if d := suite.Spec.DrawFaults; d != nil {
		all, err := specs(&suite.Spec)
		if err != nil {
			return nil, err
		}
		_, nodes := fewestNodes(all)
		spec["faults"] = items(draw(d, nodes, countsFrom(all), random(suite.Spec.Seed, r.Round, faultStream)))
		fit(spec, d.RestSeconds)
	}
	spec["keep"] = string(v1alpha1.KeepAlways) // until it was looked at
	if suite.Spec.KeepTrials == 0 {
		spec["keep"] = string(v1alpha1.KeepNever)
	}
	x := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	x.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("ReplicationExperiment"))
	x.SetNamespace(suite.Namespace)
	x.SetName(r.Name)
	x.SetLabels(map[string]string{v1alpha1.LabelSuite: suite.Name, kube.LabelManagedBy: kube.ManagedBy})
	x.SetOwnerReferences([]metav1.OwnerReference{{
		APIVersion: v1alpha1.GroupVersion.String(), Kind: "ReplicationSuite", Name: suite.Name, UID: suite.UID,
		Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true),
	}})
	return x, nil
}

// specs of all variants, in their order.
func specs(spec *v1alpha1.ReplicationSuiteSpec) (all []map[string]any, err error) {
	for _, v := range spec.Variants {
		merged, err := Spec(spec, v.Name)
		if err != nil {
			return nil, err
		}
		all = append(all, merged)
	}
	return all, nil
}

// mostNodes that a topology may have.
const mostNodes = 10

// fewestNodes is the index of the variant with the fewest nodes, and their number: drawn faults hit nodes that all have. A variant whose number
// cannot be read is left out: it is refused with the experiment.
func fewestNodes(variants []map[string]any) (variant, nodes int) {
	for i, spec := range variants {
		topology, _ := spec["topology"].(map[string]any)
		n, isNumber := topology["nodes"].(int64)
		if !isNumber && topology["nodes"] != nil {
			continue
		}
		if has := int(min(max(1, n), mostNodes)); nodes == 0 || has < nodes { // 1 by default
			variant, nodes = i, has
		}
	}
	return variant, nodes
}

// items are faults as they are in an object.
func items(faults []v1alpha1.Fault) []any {
	text, err := json.Marshal(faults)
	if err != nil {
		panic(err) // they have no value that JSON lacks
	}
	var all []any
	if err := utiljson.Unmarshal(text, &all); err != nil {
		panic(err)
	}
	return all
}
