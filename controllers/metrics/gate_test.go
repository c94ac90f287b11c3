package metrics

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/client-go/kubernetes/fake"
	clientgotesting "k8s.io/client-go/testing"
	clocktesting "k8s.io/utils/clock/testing"

	"replab.dev/internal/wire"
)

// TestWhoWasInStaysInWhileNobodyCanBeAsked, for a while; one whose right is known to be gone does not.
func TestWhoWasInStaysInWhileNobodyCanBeAsked(t *testing.T) {
	var unreachable error
	known := true
	kube := fake.NewClientset()
	kube.PrependReactor("create", "tokenreviews", func(clientgotesting.Action) (bool, runtime.Object, error) {
		return true, &authenticationv1.TokenReview{Status: authenticationv1.TokenReviewStatus{Authenticated: known}}, unreachable
	})
	kube.PrependReactor("create", "subjectaccessreviews", func(clientgotesting.Action) (bool, runtime.Object, error) {
		return true, &authorizationv1.SubjectAccessReview{Status: authorizationv1.SubjectAccessReviewStatus{Allowed: true}}, nil
	})
	now := clocktesting.NewFakeClock(time.Unix(0, 0))
	g := gate{kube.AuthenticationV1().TokenReviews(), kube.AuthorizationV1().SubjectAccessReviews(), cache.NewExpiringWithClock(now), cache.NewExpiringWithClock(now)}
	for _, step := range []struct {
		what        string
		later       time.Duration
		unreachable bool
		known       bool
		want        int
	}{
		{"while nobody can be asked", 0, true, true, http.StatusServiceUnavailable},
		{"let in", 0, false, true, http.StatusOK},
		{"within the minute", admittedFor / 2, true, true, http.StatusOK},
		{"after it", admittedFor, true, true, http.StatusOK},
		{"much later", trustedFor, true, true, http.StatusServiceUnavailable},
		{"let in again", 0, false, true, http.StatusOK},
		{"whose token is no longer known", admittedFor, false, false, http.StatusUnauthorized},
		{"and nobody can be asked", 0, true, true, http.StatusServiceUnavailable},
	} {
		now.Step(step.later)
		unreachable, known = nil, step.known
		if step.unreachable {
			unreachable = errors.New("too many questions")
		}
		r := httptest.NewRequest(http.MethodGet, wire.MetricsPath, nil)
		r.Header.Set("Authorization", "Bearer secret")
		if got, _ := g.review(t.Context(), r); got != step.want {
			t.Errorf("%s: %d, want %d", step.what, got, step.want)
		}
	}
}
