package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
)

// PodsSpec are settings of the experiment's pods. A pod takes what all says, and what its own part says goes before: maps and lists
// are joined, everything else is replaced. The operator's own defaults for all experiments come before both.
type PodsSpec struct {
	// all pods of the experiment: database nodes, their manager, proxy, app and instruments. Nodes of the Zalando operator take of it
	// nodeSelector, tolerations, affinity.nodeAffinity, priorityClassName and annotations.
	// +optional
	All *PodSettings `json:"all,omitempty"`
	// nodes are the database nodes.
	// +optional
	Nodes *PodSettings `json:"nodes,omitempty"`
	// instruments are the recorder, k6, the seed and the audit.
	// +optional
	Instruments *PodSettings `json:"instruments,omitempty"`
}

// PodSettings are settings of pods, with the meaning that they have in a pod.
type PodSettings struct {
	// labels to add.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.size() <= 317 && self[k].size() <= 63)",message="a key has more than 317 or a value more than 63 characters. Shorten it."
	Labels map[string]string `json:"labels,omitempty"`
	// annotations to add.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.map(k, k.size() + self[k].size()).sum() <= 16384",message="keys and values have more than 16384 characters in all. Shorten them."
	Annotations map[string]string `json:"annotations,omitempty"`
	// nodeSelector chooses machines by their labels.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.size() <= 317 && self[k].size() <= 63)",message="a key has more than 317 or a value more than 63 characters. Shorten it."
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
	// tolerations of the machines' taints.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:XValidation:rule="self.all(t, (!has(t.operator) || t.operator in ['', 'Exists', 'Equal']) && (!has(t.effect) || t.effect in ['', 'NoSchedule', 'PreferNoSchedule', 'NoExecute']))",message="unknown operator or effect. Use Exists or Equal, and NoSchedule, PreferNoSchedule or NoExecute."
	// +kubebuilder:validation:XValidation:rule="self.all(t, (has(t.operator) && t.operator == 'Exists') ? (!has(t.value) || t.value == '') : (has(t.key) && t.key != ''))",message="Equal needs a key, and Exists takes no value. Set the key, or remove the value."
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`
	// affinity replaces the preferences by which replab keeps the two halves and the database nodes apart.
	// +optional
	Affinity *corev1.Affinity `json:"affinity,omitempty"`
	// topologySpreadConstraints of the pods.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`
	// priorityClassName of the pods.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$`
	PriorityClassName string `json:"priorityClassName,omitempty"`
	// securityContext replaces that of the pods, fields that it does not name apart: on a platform that gives each namespace its users,
	// set runAsUser, runAsGroup and fsGroup to what it allows.
	// +optional
	SecurityContext *corev1.PodSecurityContext `json:"securityContext,omitempty"`
	// resources of the pods' main container: the server, the recorder, k6.
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`
	// imagePullSecrets are Secrets in the experiment's namespace.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:XValidation:rule="self.all(s, has(s.name) && s.name != '')",message="a pull secret has no name. Set one, or remove the item."
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`
}
