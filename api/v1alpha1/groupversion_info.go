// Package v1alpha1 is the API of replab: ReplicationExperiment and ReplicationSuite.
// +kubebuilder:object:generate=true
// +groupName=replab.dev
package v1alpha1

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// GroupVersion is replab.dev/v1alpha1.
var GroupVersion = schema.GroupVersion{Group: "replab.dev", Version: "v1alpha1"}

// AddToScheme adds the API's types to a scheme.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &ReplicationExperiment{}, &ReplicationExperimentList{}, &ReplicationSuite{}, &ReplicationSuiteList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
