package cluster

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// unserved tells of an error that the cluster does not know the kind. The client goes on to ask for one that was known once, and to that the API
// server answers 404 without a Status, other than for an object that is not there.
func unserved(err error) bool {
	return meta.IsNoMatchError(err) || apierrors.IsNotFound(err) && apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

// noMatch is err, in one form where it tells that the cluster does not know the kind of another operator's object.
func noMatch(obj client.Object, err error) error {
	if _, another := obj.(*unstructured.Unstructured); !another || !unserved(err) {
		return err
	}
	gvk := obj.GetObjectKind().GroupVersionKind()
	return &meta.NoKindMatchError{GroupKind: gvk.GroupKind(), SearchedVersions: []string{gvk.Version}}
}
