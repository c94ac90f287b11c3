package kube

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Object is a Kubernetes object of any kind. Every client takes it, and it brings no client's libraries with it.
type Object interface {
	metav1.Object
	runtime.Object
}
