package metrics

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/cache"
	typedauthenticationv1 "k8s.io/client-go/kubernetes/typed/authentication/v1"
	typedauthorizationv1 "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"replab.dev/internal/wire"
)

const (
	reviewTimeout = 5 * time.Second  // of a question to the API server about a request
	admittedFor   = time.Minute      // before the API server is asked again
	trustedFor    = 10 * admittedFor // while the API server does not answer
	mostToken     = 16 << 10         // bytes; those of the API server have one or two thousand
)

// Options of the metrics' server: open to everyone, or by TLS to those whom the API server allows to get wire.MetricsPath. The operator signs its
// certificate itself: it encrypts, and proves no identity.
func Options(cfg wire.OperatorConfig) metricsserver.Options {
	o := metricsserver.Options{BindAddress: orOff(cfg.MetricsAddress), SecureServing: cfg.MetricsSecure}
	if cfg.MetricsSecure {
		o.FilterProvider = byAPIServer
		// HTTP/2 is off: scrapers do not need it, and it makes denial of service easier.
		o.TLSOpts = []func(*tls.Config){func(c *tls.Config) { c.NextProtos = []string{"http/1.1"} }}
	}
	return o
}

func orOff(address string) string {
	if address == "" {
		return "0"
	}
	return address
}

// gate asks the API server who sent a request, and whether they may.
type gate struct {
	tokens   typedauthenticationv1.TokenReviewInterface
	rights   typedauthorizationv1.SubjectAccessReviewInterface
	admitted *cache.Expiring // by path, verb and token
	trusted  *cache.Expiring // the same, for longer
}

// wanted is a path, a verb and the hash of a token.
type wanted struct {
	path, verb string
	token      [sha256.Size]byte
}

// byAPIServer admits requests that the API server allows (docs/adr/0031). The filter of controller-runtime would link gRPC and OpenTelemetry into
// the one binary of all processes: 92 MB instead of 61.
func byAPIServer(config *rest.Config, client *http.Client) (metricsserver.Filter, error) {
	config = rest.CopyConfig(config)
	config.QPS, config.Burst = 5, 10 // apart from the operator's: a flood of requests does not slow down its work
	tokens, err := typedauthenticationv1.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, err
	}
	rights, err := typedauthorizationv1.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, err
	}
	g := gate{tokens.TokenReviews(), rights.SubjectAccessReviews(), cache.NewExpiring(), cache.NewExpiring()}
	return func(log logr.Logger, next http.Handler) (http.Handler, error) {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ctx, cancel := context.WithTimeout(r.Context(), reviewTimeout)
			defer cancel()
			status, err := g.review(ctx, r)
			if err != nil {
				log.Error(err, "cannot check who may read metrics")
			}
			if status == http.StatusUnauthorized {
				w.Header().Set("WWW-Authenticate", "Bearer")
			}
			if status != http.StatusOK {
				http.Error(w, http.StatusText(status), status)
				return
			}
			next.ServeHTTP(w, r)
		}), nil
	}, nil
}

// review returns the HTTP status for a request: 200 to answer it.
func (g gate) review(ctx context.Context, r *http.Request) (int, error) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") || token == "" || len(token) > mostToken {
		return http.StatusUnauthorized, nil
	}
	key := wanted{r.URL.Path, r.Method, sha256.Sum256([]byte(token))}
	if _, known := g.admitted.Get(key); known {
		return http.StatusOK, nil
	}
	status, err := g.ask(ctx, r, token)
	switch {
	case err != nil:
		if _, was := g.trusted.Get(key); was {
			return http.StatusOK, nil
		}
	case status == http.StatusOK:
		g.admitted.Set(key, nil, admittedFor)
		g.trusted.Set(key, nil, trustedFor)
	default:
		g.trusted.Delete(key)
	}
	return status, err
}

// ask the API server.
func (g gate) ask(ctx context.Context, r *http.Request, token string) (int, error) {
	who, err := g.tokens.Create(ctx, &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}, metav1.CreateOptions{})
	if err != nil {
		return http.StatusServiceUnavailable, fmt.Errorf("review the token: %w", err)
	}
	if !who.Status.Authenticated {
		return http.StatusUnauthorized, nil
	}
	may, err := g.rights.Create(ctx, &authorizationv1.SubjectAccessReview{Spec: rightTo(who.Status.User, r)}, metav1.CreateOptions{})
	if err != nil {
		return http.StatusServiceUnavailable, fmt.Errorf("review the access of %s: %w", who.Status.User.Username, err)
	}
	if !may.Status.Allowed {
		return http.StatusForbidden, nil
	}
	return http.StatusOK, nil
}

func rightTo(user authenticationv1.UserInfo, r *http.Request) authorizationv1.SubjectAccessReviewSpec {
	extra := map[string]authorizationv1.ExtraValue{}
	for key, values := range user.Extra {
		extra[key] = authorizationv1.ExtraValue(values)
	}
	return authorizationv1.SubjectAccessReviewSpec{
		User: user.Username, UID: user.UID, Groups: user.Groups, Extra: extra,
		NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: r.URL.Path, Verb: strings.ToLower(r.Method)},
	}
}
