package zalando

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"replab.dev/api/v1alpha1"
)

// machines are those on which the nodes' pods may run, nil where any will do. The resource knows no selector of machines: each label of one is
// asked for in every term, of which one has to hold.
func machines(asked v1alpha1.PodSettings) *corev1.NodeAffinity {
	var affinity corev1.NodeAffinity
	if asked.Affinity != nil && asked.Affinity.NodeAffinity != nil {
		affinity = *asked.Affinity.NodeAffinity.DeepCopy()
	} else if len(asked.NodeSelector) == 0 {
		return nil
	}
	if len(asked.NodeSelector) == 0 {
		return &affinity
	}
	if affinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		affinity.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{}}}
	}
	terms := affinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	for i := range terms {
		for _, label := range slices.Sorted(maps.Keys(asked.NodeSelector)) {
			terms[i].MatchExpressions = append(terms[i].MatchExpressions, corev1.NodeSelectorRequirement{
				Key: label, Operator: corev1.NodeSelectorOpIn, Values: []string{asked.NodeSelector[label]},
			})
		}
	}
	return &affinity
}
