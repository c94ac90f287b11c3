package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
)

// ScriptSource is the user's own k6 script, with what it needs to know.
type ScriptSource struct {
	// configMapKeyRef is the script: a key of a ConfigMap in the experiment's namespace, in data or binaryData. The other keys lie beside it,
	// to be imported.
	// +required
	ConfigMapKeyRef ScriptKey `json:"configMapKeyRef"`
	// env are variables that the script finds in __ENV. replab's own begin with REPLAB_; k6's options, which begin with K6_, belong into
	// the script.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	Env []ScriptVariable `json:"env,omitempty"`
}

// ScriptKey is a key of a ConfigMap.
type ScriptKey struct {
	// name of the ConfigMap.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	Name string `json:"name"`
	// key of the script in it.
	// +required
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9][A-Za-z0-9_.-]*$`
	// +kubebuilder:validation:MaxLength=100
	Key string `json:"key"`
}

// ScriptVariable is a variable with its value, or where to find it.
//
// +kubebuilder:validation:XValidation:rule=`!self.name.startsWith('REPLAB_') && !self.name.startsWith('K6_') && !(self.name in ['HOME', 'PATH'])`,fieldPath=`.name`,message="replab or k6 uses this variable itself. Choose another name, and put options into the script."
// +kubebuilder:validation:XValidation:rule=`!(has(self.value) && has(self.valueFrom))`,message="a variable has one value. Remove value or valueFrom."
// +kubebuilder:validation:XValidation:rule=`!has(self.valueFrom) || has(self.valueFrom.secretKeyRef) != has(self.valueFrom.configMapKeyRef)`,fieldPath=`.valueFrom`,message="the value is in one place. Set either secretKeyRef or configMapKeyRef."
type ScriptVariable struct {
	// name of the variable.
	// +required
	// +kubebuilder:validation:Pattern=`^[A-Za-z_][A-Za-z0-9_]*$`
	// +kubebuilder:validation:MaxLength=100
	Name string `json:"name"`
	// value of the variable.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Value string `json:"value,omitempty"`
	// valueFrom is a key of a Secret or of a ConfigMap in the experiment's namespace.
	// +optional
	ValueFrom *ScriptVariableSource `json:"valueFrom,omitempty"`
}

// ScriptVariableSource is where a value is: one of the two.
type ScriptVariableSource struct {
	// secretKeyRef is a key of a Secret.
	// +optional
	SecretKeyRef *KeyRef `json:"secretKeyRef,omitempty"`
	// configMapKeyRef is a key of a ConfigMap.
	// +optional
	ConfigMapKeyRef *KeyRef `json:"configMapKeyRef,omitempty"`
}

// KeyRef is a key of an object in the experiment's namespace.
type KeyRef struct {
	// name of the object.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	Name string `json:"name"`
	// key in it.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[-._a-zA-Z0-9]+$`
	Key string `json:"key"`
}

// EnvVar is the variable as a container has it.
func (v ScriptVariable) EnvVar() corev1.EnvVar {
	out := corev1.EnvVar{Name: v.Name, Value: v.Value}
	switch {
	case v.ValueFrom == nil:
	case v.ValueFrom.SecretKeyRef != nil:
		ref := v.ValueFrom.SecretKeyRef
		out.ValueFrom = &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: ref.Name}, Key: ref.Key,
		}}
	case v.ValueFrom.ConfigMapKeyRef != nil:
		ref := v.ValueFrom.ConfigMapKeyRef
		out.ValueFrom = &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: ref.Name}, Key: ref.Key,
		}}
	}
	return out
}
