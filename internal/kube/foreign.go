package kube

import "k8s.io/apimachinery/pkg/runtime/schema"

// ForeignKind is the kind of an object that another operator carries out.
type ForeignKind struct {
	schema.GroupVersionKind
	// NotServed says what to do where the cluster does not know the kind, and Forbidden where this operator may not use it.
	NotServed, Forbidden string
}
