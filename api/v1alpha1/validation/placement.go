package validation

import (
	corev1 "k8s.io/api/core/v1"
	objects "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	text "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"replab.dev/api/v1alpha1"
)

// What the API server says of these at length and without a remedy.
const (
	badLabel      = "invalid label. Use up to 63 letters, digits, '-', '_' and '.', in the key after a domain and '/', as in example.com/disk: ssd."
	badAnnotation = "invalid annotation. Use a key such as example.com/owner, and at most 256 KiB in all."
	badSelector   = "invalid selector. Use In or NotIn with values, Exists or DoesNotExist without, Gt or Lt with one integer, and valid labels."
	badTopology   = "invalid topology key. Use the key of a node label, such as kubernetes.io/hostname."
	badID         = "invalid ID. Use 0 to 2147483647."
)

// replace errors of the API server's own checks by one message, each at its field.
func (s *spec) replace(errs field.ErrorList, message string) {
	for _, err := range errs {
		s.errs = append(s.errs, &field.Error{Type: field.ErrorTypeInvalid, Field: err.Field, BadValue: field.OmitValueType{}, Detail: message})
	}
}

// placement: what the API server would refuse of each pod.
func placement(s *spec, path *field.Path, p v1alpha1.PodSettings) {
	s.replace(validation.ValidateLabels(p.Labels, path.Child("labels")), badLabel)
	s.replace(objects.ValidateAnnotations(p.Annotations, path.Child("annotations")), badAnnotation)
	s.replace(validation.ValidateLabels(p.NodeSelector, path.Child("nodeSelector")), badLabel)
	for i, secret := range p.ImagePullSecrets {
		s.refuse(secret.Name != "" && len(text.IsDNS1123Subdomain(secret.Name)) > 0, path.Child("imagePullSecrets").Index(i).Child("name"),
			"no Secret can have this name. Use lower-case letters, digits, '-' and '.'.")
	}
	for i, t := range p.Tolerations {
		path := path.Child("tolerations").Index(i)
		s.refuse(t.TolerationSeconds != nil && t.Effect != corev1.TaintEffectNoExecute, path.Child("tolerationSeconds"),
			"only effect NoExecute has a time. Set effect to NoExecute, or remove it.")
		s.refuse(t.Key != "" && len(text.IsQualifiedName(t.Key)) > 0, path.Child("key"), badLabel)
	}
	for i, c := range p.TopologySpreadConstraints {
		path := path.Child("topologySpreadConstraints").Index(i)
		s.refuse(c.MaxSkew < 1, path.Child("maxSkew"), "a skew is at least 1. Raise it.")
		s.refuse(len(text.IsQualifiedName(c.TopologyKey)) > 0, path.Child("topologyKey"), badTopology)
		s.refuse(c.WhenUnsatisfiable != corev1.DoNotSchedule && c.WhenUnsatisfiable != corev1.ScheduleAnyway, path.Child("whenUnsatisfiable"),
			"unknown value. Use DoNotSchedule or ScheduleAnyway.")
		s.replace(validation.ValidateLabelSelector(c.LabelSelector, validation.LabelSelectorValidationOptions{}, path.Child("labelSelector")), badSelector)
	}
	if p.Affinity != nil {
		affinity(s, path.Child("affinity"), *p.Affinity)
	}
}

// affinity: terms that no scheduler reads.
func affinity(s *spec, path *field.Path, a corev1.Affinity) {
	if n := a.NodeAffinity; n != nil {
		var terms []corev1.NodeSelectorTerm
		if n.RequiredDuringSchedulingIgnoredDuringExecution != nil {
			terms = n.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
			s.refuse(len(terms) == 0, path.Child("nodeAffinity"), "no node matches without terms. Add one, or remove it.")
		}
		for _, p := range n.PreferredDuringSchedulingIgnoredDuringExecution {
			terms = append(terms[:len(terms):len(terms)], p.Preference)
		}
		for _, term := range terms {
			expressions(s, path.Child("nodeAffinity"), term)
		}
	}
	var terms []corev1.PodAffinityTerm
	var weighted []corev1.WeightedPodAffinityTerm
	if p := a.PodAffinity; p != nil {
		terms, weighted = p.RequiredDuringSchedulingIgnoredDuringExecution, p.PreferredDuringSchedulingIgnoredDuringExecution
	}
	if p := a.PodAntiAffinity; p != nil {
		terms = append(terms[:len(terms):len(terms)], p.RequiredDuringSchedulingIgnoredDuringExecution...)
		weighted = append(weighted[:len(weighted):len(weighted)], p.PreferredDuringSchedulingIgnoredDuringExecution...)
	}
	for _, w := range weighted {
		terms = append(terms[:len(terms):len(terms)], w.PodAffinityTerm)
	}
	for _, term := range terms {
		s.refuse(len(text.IsQualifiedName(term.TopologyKey)) > 0, path, badTopology)
		s.replace(validation.ValidateLabelSelector(term.LabelSelector, validation.LabelSelectorValidationOptions{}, path), badSelector)
	}
}

// operators of nodes' labels, as selectors write them.
var operators = map[corev1.NodeSelectorOperator]selection.Operator{
	corev1.NodeSelectorOpIn: selection.In, corev1.NodeSelectorOpNotIn: selection.NotIn, corev1.NodeSelectorOpExists: selection.Exists,
	corev1.NodeSelectorOpDoesNotExist: selection.DoesNotExist, corev1.NodeSelectorOpGt: selection.GreaterThan, corev1.NodeSelectorOpLt: selection.LessThan,
}

func expressions(s *spec, path *field.Path, term corev1.NodeSelectorTerm) {
	for _, e := range term.MatchExpressions {
		_, err := labels.NewRequirement(e.Key, operators[e.Operator], e.Values)
		s.refuse(err != nil, path, badSelector)
	}
}

// users and groups beyond what Linux numbers.
func users(s *spec, path *field.Path, c corev1.PodSecurityContext) {
	for _, id := range []struct {
		name  string
		value *int64
	}{{"fsGroup", c.FSGroup}, {"runAsGroup", c.RunAsGroup}, {"runAsUser", c.RunAsUser}} {
		s.refuse(id.value != nil && len(text.IsValidGroupID(*id.value)) > 0, path.Child(id.name), badID)
	}
	for i, id := range c.SupplementalGroups {
		s.refuse(len(text.IsValidGroupID(id)) > 0, path.Child("supplementalGroups").Index(i), badID)
	}
}
