package v1alpha1

// ImageName is the name of a container image. Empty is the operator's own.
// +kubebuilder:validation:MaxLength=500
// +kubebuilder:validation:XValidation:rule=`self == "" || self.matches('^([a-zA-Z0-9]([a-zA-Z0-9.-]*[a-zA-Z0-9])?(:[0-9]{1,5})?/)?[a-z0-9]+((\\.|_{1,2}|-+)[a-z0-9]+)*(/[a-z0-9]+((\\.|_{1,2}|-+)[a-z0-9]+)*)*(:[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,127})?(@[a-z0-9]+:[0-9a-f]{32,128})?$')`,message="this is no image name. Write registry/name:tag or registry/name@sha256:digest, in lower case, without a scheme."
type ImageName string
