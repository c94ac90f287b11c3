package experiment

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
)

// withoutOperator ends a run whose object of another operator cannot be read or made for one of these two. While the run has not begun, and can
// still be changed, what can be used instead is said too. Other errors may go away.
func withoutOperator(run *Run, kind kube.ForeignKind, instead string, err error) (Outcome, error) {
	switch {
	case meta.IsNoMatchError(err):
		return Terminal(v1alpha1.ReasonNotFound, "%s", kind.NotServed), nil
	case apierrors.IsForbidden(err) && run.Status.StartTime == nil:
		return Terminal(v1alpha1.ReasonSpecRefused, "%s, or use %s", kind.Forbidden, instead), nil
	case apierrors.IsForbidden(err): // the right was there when the run began
		return Terminal(v1alpha1.ReasonObjectRefused, "%s", kind.Forbidden), nil
	}
	return Outcome{}, err
}
