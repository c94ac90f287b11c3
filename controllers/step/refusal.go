package step

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Refusal is what an error says of a write that the API server refuses.
type Refusal int

// Refusals.
const (
	NotRefused  Refusal = iota // the error is another one, and may go away
	RefusedNow                 // what refuses may change: a quota is freed, a right given, a webhook started
	RefusedEver                // the object will never be taken as it is
)

// RefusalOf classifies the error of a write.
func RefusalOf(err error) Refusal {
	switch {
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return RefusedEver
	case apierrors.IsForbidden(err), apierrors.IsInternalError(err) && strings.Contains(err.Error(), "failed calling webhook"):
		return RefusedNow
	}
	return NotRefused
}
