package patronitest

import (
	"bytes"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/internal/engine/postgres/postgrestest"
	"replab.dev/test/kubetest"
)

const (
	scopeLabel = "replab.dev/scope"
	account    = Scope
)

var labels = map[string]string{"app.kubernetes.io/managed-by": "replab", "replab.dev/experiment": "a"}

// store is a namespace of an API server, with what nodes find there.
type store struct {
	namespace string
	env       []string // by which Patroni finds the API server
}

// newStore makes the objects beforehand that Patroni would else make itself, and which go with the experiment so.
func newStore(t testing.TB, nodes int) *store {
	t.Helper()
	c := kubetest.Client(t)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "patroni-"}}
	must(t, c.Create(t.Context(), namespace))
	meta := func(name string) metav1.ObjectMeta {
		all := map[string]string{scopeLabel: Scope}
		for name, value := range labels {
			all[name] = value
		}
		return metav1.ObjectMeta{Namespace: namespace.Name, Name: name, Labels: all}
	}
	identity := &corev1.ServiceAccount{ObjectMeta: meta(account)}
	var pods, maps []string
	objects := []client.Object{identity}
	for i := range nodes {
		pod := &corev1.Pod{ObjectMeta: meta(fmt.Sprintf("%s-%d", Scope, i)), Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "server", Image: "x"}}}}
		objects, pods = append(objects, pod), append(pods, pod.Name)
	}
	for _, suffix := range []string{"config", "leader", "sync", "failover"} {
		m := &corev1.ConfigMap{ObjectMeta: meta(Scope + "-" + suffix)}
		objects, maps = append(objects, m), append(maps, m.Name)
	}
	objects = append(objects, &rbacv1.Role{ObjectMeta: meta(account), Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"list", "watch"}},
		{APIGroups: []string{""}, Resources: []string{"configmaps"}, ResourceNames: maps, Verbs: []string{"get", "patch", "update"}},
		{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"list", "watch"}},
		{APIGroups: []string{""}, Resources: []string{"pods"}, ResourceNames: pods, Verbs: []string{"get", "patch"}},
	}}, &rbacv1.RoleBinding{
		ObjectMeta: meta(account), RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: account},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace.Name, Name: account}},
	})
	for _, o := range objects {
		must(t, c.Create(t.Context(), o))
	}
	token := &authenticationv1.TokenRequest{}
	must(t, c.SubResource("token").Create(t.Context(), identity, token))
	return &store{namespace: namespace.Name, env: environment(t, namespace.Name, token.Status.Token)}
}

// environment is what a pod has to reach the API server with.
func environment(t testing.TB, namespace, token string) []string {
	t.Helper()
	config := kubetest.Config(t)
	dir := postgrestest.Dir(t)
	for name, content := range map[string][]byte{"token": []byte(token), "ca.crt": config.CAData, "namespace": []byte(namespace)} {
		path := filepath.Join(dir, name)
		must(t, os.WriteFile(path, content, 0o600))
		postgrestest.Own(t, path)
	}
	server, err := url.Parse(config.Host)
	must(t, err)
	return []string{"KUBERNETES_SERVICE_HOST=" + server.Hostname(), "KUBERNETES_SERVICE_PORT=" + server.Port(), "SERVICE_ACCOUNT=" + dir}
}

// lockedBuffer is written to by a process while others read it.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
