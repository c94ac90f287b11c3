package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
)

// PodsSpec are settings of the experiment's pods. A pod takes what all says, and what its own part says goes before: maps and lists
// are joined, everything else is replaced. The operator's own defaults for all experiments come before both.
//
// +kubebuilder:validation:XValidation:rule="!has(self.all) || !has(self.all.resources)",fieldPath=".all.resources",message="pods.all.resources would be the same for a database and a proxy: remove it, and set pods.nodes.resources or pods.instruments.resources"
type PodsSpec struct {
	// all pods of the experiment: database nodes, their manager, proxy, app and instruments. Nodes of the Zalando operator take of it
	// nodeSelector, tolerations, affinity.nodeAffinity, priorityClassName and annotations.
	// +optional
	All *PodSettings `json:"all,omitempty"`
	// nodes are the database nodes.
	// +optional
	Nodes *PodSettings `json:"nodes,omitempty"`
	// instruments are the witness, k6, the seed and the audit.
	// +optional
	Instruments *PodSettings `json:"instruments,omitempty"`
}

// PodSettings are settings of pods, with the meaning that they have in a pod.
//
// +kubebuilder:validation:XValidation:rule="!has(self.labels) || self.labels.all(k, !(k in ['app.kubernetes.io/managed-by', 'app.kubernetes.io/component']) && !k.startsWith('replab.dev/'))",fieldPath=".labels",message="pods labels cannot be app.kubernetes.io/managed-by, app.kubernetes.io/component or begin with replab.dev/, by which replab finds its pods: use other keys"
// +kubebuilder:validation:XValidation:rule="!has(self.resources) || !has(self.resources.claims) || self.resources.claims.size() == 0",fieldPath=".resources.claims",message="pods resources.claims is not supported: remove it, no pod has such a claim"
// +kubebuilder:validation:XValidation:rule=`!has(self.resources) || ['cpu', 'memory'].all(k, (!has(self.resources.requests) || !(k in self.resources.requests) || !quantity(string(self.resources.requests[k])).isLessThan(quantity('0'))) && (!has(self.resources.limits) || !(k in self.resources.limits) || quantity(string(self.resources.limits[k])).isGreaterThan(quantity('0'))))`,fieldPath=`.resources`,message=`pods resources has a negative request, or a limit that is not above 0: correct or remove it`
// +kubebuilder:validation:XValidation:rule=`!has(self.resources) || !has(self.resources.requests) || !has(self.resources.limits) || ['cpu', 'memory'].all(k, !(k in self.resources.requests) || !(k in self.resources.limits) || quantity(string(self.resources.requests[k])).compareTo(quantity(string(self.resources.limits[k]))) <= 0)`,fieldPath=`.resources`,message=`pods resources.requests must not exceed resources.limits: lower the request or raise the limit`
// +kubebuilder:validation:XValidation:rule="!has(self.securityContext) || ((!has(self.securityContext.runAsNonRoot) || self.securityContext.runAsNonRoot) && (!has(self.securityContext.runAsUser) || self.securityContext.runAsUser > 0) && (!has(self.securityContext.seccompProfile) || self.securityContext.seccompProfile.type != 'Unconfined') && (!has(self.securityContext.appArmorProfile) || self.securityContext.appArmorProfile.type != 'Unconfined') && (!has(self.securityContext.sysctls) || self.securityContext.sysctls.size() == 0) && !has(self.securityContext.windowsOptions) && (!has(self.securityContext.seLinuxOptions) || ((!has(self.securityContext.seLinuxOptions.user) || self.securityContext.seLinuxOptions.user.size() == 0) && (!has(self.securityContext.seLinuxOptions.role) || self.securityContext.seLinuxOptions.role.size() == 0) && (!has(self.securityContext.seLinuxOptions.type) || self.securityContext.seLinuxOptions.type.size() == 0 || self.securityContext.seLinuxOptions.type in ['container_t', 'container_init_t', 'container_kvm_t', 'container_engine_t']))))",fieldPath=".securityContext",message="pods securityContext cannot leave the restricted pod security standard: remove root, Unconfined profiles, sysctls, windowsOptions and seLinuxOptions with a user, a role or a type that is no container's"
type PodSettings struct {
	// labels to add.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.size() <= 317 && self[k].size() <= 63)",message="pods labels have a key of more than 317 or a value of more than 63 characters: shorten it"
	Labels map[string]string `json:"labels,omitempty"`
	// annotations to add.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	Annotations map[string]string `json:"annotations,omitempty"`
	// nodeSelector chooses machines by their labels.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
	// tolerations of the machines' taints.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:XValidation:rule="self.all(t, (!has(t.operator) || t.operator in ['', 'Exists', 'Equal']) && (!has(t.effect) || t.effect in ['', 'NoSchedule', 'PreferNoSchedule', 'NoExecute']))",message="pods tolerations have an operator or an effect that is none: use operator Exists or Equal, and effect NoSchedule, PreferNoSchedule or NoExecute"
	// +kubebuilder:validation:XValidation:rule="self.all(t, (has(t.operator) && t.operator == 'Exists') ? (!has(t.value) || t.value == '') : (has(t.key) && t.key != ''))",message="pods tolerations must have a key with operator Equal and no value with Exists: give the key, or remove the value"
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
	// resources of the pods' main container: the server, the witness, k6.
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`
	// imagePullSecrets are Secrets in the experiment's namespace.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:XValidation:rule="self.all(s, has(s.name) && s.name != '')",message="pods imagePullSecrets must name Secrets: give a name, or remove the item"
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`
}
