package step

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestRefusals(t *testing.T) {
	forbidden := func(why string) *apierrors.StatusError {
		return apierrors.NewForbidden(schema.GroupResource{}, "a", errors.New(why))
	}
	terminating := forbidden("namespace a is being terminated")
	terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	for name, c := range map[string]struct {
		err  error
		want Refusal
	}{
		"none":                   {nil, NotRefused},
		"no connection":          {errors.New("no connection"), NotRefused},
		"quota":                  {forbidden("exceeded quota"), RefusedNow},
		"webhook that is not up": {apierrors.NewInternalError(errors.New(`failed calling webhook "a": connection refused`)), RefusedNow},
		"another error inside":   {apierrors.NewInternalError(errors.New("etcd")), NotRefused},
		"conflict":               {apierrors.NewConflict(schema.GroupResource{}, "a", nil), NotRefused},
		"too many requests":      {apierrors.NewTooManyRequests("wait", 1), NotRefused},
		"unavailable":            {apierrors.NewServiceUnavailable("wait"), NotRefused},
		"invalid":                {apierrors.NewInvalid(schema.GroupKind{}, "a", field.ErrorList{}), RefusedEver},
		"bad request":            {apierrors.NewBadRequest("no"), RefusedEver},
		"namespace that goes":    {terminating, RefusedEver},
	} {
		if got := RefusalOf(c.err); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}
