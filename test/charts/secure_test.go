package charts_test

import (
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"replab.dev/controllers/metrics"
	"replab.dev/test/freeport"
	"replab.dev/test/kubetest"
)

// secured is how the chart is by default.
var secured = []string{"--set", "metrics.serviceMonitor.enabled=true"}

func TestMetricsAreSecuredByDefault(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args                  []string
		address, port, scheme string
	}{
		"by default": {secured, ":8443", "8443", "https"},
		"open":       {[]string{"--set", "metrics.secure=false,metrics.serviceMonitor.enabled=true"}, ":8080", "8080", ""},
	} {
		all := render(t, c.args...)
		secure := c.scheme != ""
		if cfg := operatorConfig(t, all); cfg.MetricsSecure != secure || cfg.MetricsAddress != c.address {
			t.Errorf("%s: the operator serves %s, secured %t", name, cfg.MetricsAddress, cfg.MetricsSecure)
		}
		if text := toJSON(t, all["Deployment replab-operator"].Object); !strings.Contains(text, `"containerPort":`+c.port+`,"name":"metrics"`) {
			t.Errorf("%s: the container's ports are others: %s", name, text)
		}
		if text := toJSON(t, all["Service replab-operator-metrics"].Object); !strings.Contains(text, `"port":`+c.port+`,`) {
			t.Errorf("%s: the Service's ports are others: %s", name, text)
		}
		endpoints, _, _ := unstructured.NestedSlice(all["ServiceMonitor replab-operator"].Object, "spec", "endpoints")
		scheme, _ := endpoints[0].(map[string]any)["scheme"].(string)
		_, token := endpoints[0].(map[string]any)["bearerTokenFile"]
		if scheme != c.scheme || token != secure {
			t.Errorf("%s: Prometheus asks by %q, with a token: %t", name, scheme, token)
		}
		for _, role := range []string{"ClusterRole replab-operator-metrics", "ClusterRoleBinding replab-operator-metrics", "ClusterRole replab-operator-metrics-reader"} {
			if (all[role] != nil) != secure {
				t.Errorf("%s: %s is there: %t", name, role, all[role] != nil)
			}
		}
	}
}

// TestPrometheusMayShowATokenOfASecret, where it may not read files.
func TestPrometheusMayShowATokenOfASecret(t *testing.T) {
	t.Parallel()
	all := render(t, append(slices.Clone(secured), "--set", "metrics.serviceMonitor.authorization.credentials.name=reader,metrics.serviceMonitor.authorization.credentials.key=token")...)
	text := toJSON(t, all["ServiceMonitor replab-operator"].Object)
	if !strings.Contains(text, `"authorization":{"credentials":{"key":"token","name":"reader"}}`) || strings.Contains(text, "bearerTokenFile") {
		t.Error(text)
	}
}

// TestSecuredMetricsAreReadByWhomTheAPIServerLets, with the chart's roles and no others: the operator asks it as its own ServiceAccount.
func TestSecuredMetricsAreReadByWhomTheAPIServerLets(t *testing.T) {
	server, chart := kubetest.Client(t), render(t, secured...)
	create := func(object *unstructured.Unstructured) {
		if err := server.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = server.Delete(context.Background(), object) }) // the test's own context is over then
	}
	for _, name := range []string{"ClusterRole replab-operator-metrics", "ClusterRoleBinding replab-operator-metrics", "ClusterRole replab-operator-metrics-reader"} {
		create(chart[name])
	}
	may, mayNot := account(t, "prometheus"), account(t, "somebody")
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "prometheus-reads-replab"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "replab-operator-metrics-reader"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: "default", Name: "prometheus"}},
	}
	if err := server.Create(t.Context(), binding); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Delete(context.Background(), binding) })

	for user, right := range map[string]authorizationv1.SubjectAccessReviewSpec{
		"system:serviceaccount:default:prometheus":            {NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: "/metrics", Verb: "get"}},
		"system:serviceaccount:replab-system:replab-operator": {ResourceAttributes: &authorizationv1.ResourceAttributes{Group: "authorization.k8s.io", Resource: "subjectaccessreviews", Verb: "create"}},
	} {
		awaitRight(t, user, right)
	}
	config := kubetest.Config(t)
	config.Impersonate.UserName = "system:serviceaccount:replab-system:replab-operator"
	address := serveMetrics(t, chart, config)
	for name, c := range map[string]struct {
		token string
		want  int
	}{
		"nobody": {"", http.StatusUnauthorized}, "a forger": {"none.of.theirs", http.StatusUnauthorized},
		"somebody without the right": {mayNot, http.StatusForbidden}, "who may": {may, http.StatusOK},
	} {
		status, body := askMetrics(t, "https://"+address+"/metrics", c.token)
		if status != c.want || (status == http.StatusOK) != strings.Contains(body, "# HELP ") {
			t.Errorf("%s: %d, want %d: %.200s", name, status, c.want, body)
		}
	}
	for range 30 { // more than the API server is asked for at once
		if status, _ := askMetrics(t, "https://"+address+"/metrics", "none.of.theirs"); status == http.StatusServiceUnavailable {
			break
		}
	}
	if status, _ := askMetrics(t, "https://"+address+"/metrics", may); status != http.StatusOK {
		t.Errorf("while somebody knocks, who was in gets %d", status)
	}
	if response, err := http.Get("http://" + address + "/metrics"); err == nil && response.StatusCode == http.StatusOK {
		t.Error("they are read without TLS")
	}
}

// awaitRight until the API server knows of a role that was just given: a refusal would be remembered.
func awaitRight(t *testing.T, user string, right authorizationv1.SubjectAccessReviewSpec) {
	t.Helper()
	right.User = user
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) { // between two questions
		review := &authorizationv1.SubjectAccessReview{Spec: right}
		if err := kubetest.Client(t).Create(t.Context(), review); err != nil {
			t.Fatal(err)
		}
		if review.Status.Allowed {
			return
		}
		if time.Since(began) > 10*time.Second {
			t.Fatalf("%s may not: %+v", user, review.Status)
		}
	}
}

// serveMetrics serves as the operator does by the chart's configuration, at another address.
func serveMetrics(t *testing.T, chart objects, config *rest.Config) string {
	t.Helper()
	cfg := operatorConfig(t, chart)
	cfg.MetricsAddress = freeport.Address(t)
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	s, err := metricsserver.NewServer(metrics.Options(cfg), config, client)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Start(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return cfg.MetricsAddress
}

// askMetrics waits for the server to be there.
func askMetrics(t *testing.T, url, token string) (status int, body string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}} // as Prometheus does
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	for began := time.Now(); ; time.Sleep(50 * time.Millisecond) { // between two attempts
		response, err := client.Do(request)
		if err != nil {
			if time.Since(began) > 10*time.Second {
				t.Fatal(err)
			}
			continue
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, string(text)
	}
}

// account is the token of a new ServiceAccount in the namespace default.
func account(t *testing.T, name string) string {
	t.Helper()
	server, token := kubetest.Client(t), &authenticationv1.TokenRequest{}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	if err := server.Create(t.Context(), account); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Delete(context.Background(), account) })
	if err := server.SubResource("token").Create(t.Context(), account, token); err != nil {
		t.Fatal(err)
	}
	return token.Status.Token
}
