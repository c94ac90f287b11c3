// Package spilo_test has the start program start Patroni as a pod of the Zalando operator does.
package spilo_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/postgres"
	"replab.dev/internal/engine/postgres/postgrestest"
	"replab.dev/internal/wire"
	"replab.dev/test/kubetest"
)

func TestMain(m *testing.M) { os.Exit(kubetest.Main(m)) }

// settings that an experiment has the operator told of.
var settings = engine.Settings{Durability: engine.Relaxed, Parameters: map[string]string{"shared_buffers": "32MB", "max_connections": "57"}}

const (
	cluster  = "a-db"
	password = "secret"
)

// TestStartProgramStartsWhatTheOperatorSays is of both stores that the operator may have Patroni use.
func TestStartProgramStartsWhatTheOperatorSays(t *testing.T) {
	need(t)
	for _, store := range []string{"ConfigMap", "Endpoints"} {
		t.Run(store, func(t *testing.T) {
			n := newNode(t)
			n.keepsIn(t, store)
			first := n.start(t)
			first.await(t, http.StatusOK)
			n.serves(t)
			n.isKnown(t, store)

			first.stop()
			if err := os.Chmod(n.data, 0o770); err != nil { // as a volume is that is mounted anew
				t.Fatal(err)
			}
			n.start(t).await(t, http.StatusOK)
			n.serves(t)
		})
	}
}

func TestStartProgramSaysWhatItLacks(t *testing.T) {
	need(t)
	n := newNode(t)
	for name, c := range map[string]struct{ env, says string }{
		"no cluster":            {"SCOPE=", "the environment has no SCOPE"},
		"no password":           {"PGPASSWORD_STANDBY=", "the environment has no PGPASSWORD_STANDBY"},
		"settings in fragments": {`SPILO_CONFIGURATION={"postgresql":`, "SPILO_CONFIGURATION of the environment is no JSON"},
		"settings in a list":    {`SPILO_CONFIGURATION=[]`, "SPILO_CONFIGURATION of the environment is not an object"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := postgrestest.Command(t, "python3", n.program)
			cmd.Env = append(append(cmd.Env, n.env...), c.env) // the last one counts
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), c.says) {
				t.Errorf("it ends with %v, and says %q, want %q", err, out, c.says)
			}
		})
	}
}

func need(t *testing.T) {
	t.Helper()
	postgrestest.Need(t)
	if !postgrestest.Image() {
		t.Skip("Patroni is run from an unpacked image: run `make local-rootfs`, and the tests as root")
	}
}

// node is a pod of its own cluster.
type node struct {
	program, data string
	address       string
	namespace     string
	env           []string
	client        client.Client
}

func newNode(t *testing.T) *node {
	t.Helper()
	dir := postgrestest.Dir(t)
	n := &node{
		program: filepath.Join(dir, "start.py"), data: filepath.Join(dir, "pgroot", "data"),
		address: fmt.Sprintf("127.%d.%d.9", 10+rand.IntN(200), rand.IntN(250)), client: kubetest.Client(t),
	}
	text, err := os.ReadFile("start.py")
	must(t, err)
	must(t, os.WriteFile(n.program, text, 0o755))
	postgrestest.Own(t, n.program)
	n.env = append(n.pod(t),
		"HOSTNAME="+cluster+"-0", "POD_IP="+n.address, "POD_NAMESPACE="+n.namespace, "SCOPE="+cluster, "PGROOT="+filepath.Dir(n.data), "PGVERSION=17",
		"PGUSER_SUPERUSER=postgres", "PGPASSWORD_SUPERUSER="+password, "PGUSER_STANDBY=standby", "PGPASSWORD_STANDBY="+password,
		"KUBERNETES_SCOPE_LABEL=cluster-name", "KUBERNETES_ROLE_LABEL=spilo-role", `KUBERNETES_LABELS={"application":"spilo"}`,
		"DCS_ENABLE_KUBERNETES_API=true", "SPILO_CONFIGURATION="+n.spilo(t, nil), "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
	return n
}

// keepsIn says where Patroni is to keep its state. The API server takes no address of the machine itself for an endpoint.
func (n *node) keepsIn(t *testing.T, store string) {
	t.Helper()
	if store == "ConfigMap" {
		n.env = append(n.env, "KUBERNETES_USE_CONFIGMAPS=true")
		return
	}
	n.env = append(n.env, "POD_IP=192.0.2.9", "SPILO_CONFIGURATION="+n.spilo(t, map[string]string{"connect_address": n.address}))
}

// spilo is what the operator writes for a resource. All nodes of a test share one machine: where they listen is the test's own, and more.
func (n *node) spilo(t *testing.T, more map[string]string) string {
	t.Helper()
	rest := map[string]any{"listen": n.address + ":8008"}
	told := postgres.Server{}.Describe(settings)
	common := maps.Clone(told.Parameters)
	delete(common, "shared_buffers") // which the operator takes for each node's own
	server := map[string]any{
		"listen":     n.address + ":5432",
		"parameters": map[string]string{"shared_buffers": told.Parameters["shared_buffers"]},
		"pg_hba":     told.Access,
	}
	for name, host := range more {
		rest[name], server[name] = host+":8008", host+":5432"
	}
	text, err := json.Marshal(map[string]any{
		"restapi":    rest,
		"postgresql": server,
		"bootstrap": map[string]any{
			"initdb": initialization(told.Initialization),
			"dcs": map[string]any{
				"ttl": 40, "loop_wait": 2, "retry_timeout": 10, "maximum_lag_on_failover": 1048576, "failsafe_mode": false,
				"postgresql": map[string]any{"parameters": common},
			},
		},
	})
	must(t, err)
	return string(text)
}

// initialization is as the operator writes it: sorted, and what is a switch by its name alone.
func initialization(options map[string]string) []any {
	var list []any
	for _, name := range slices.Sorted(maps.Keys(options)) {
		if options[name] == "true" {
			list = append(list, name)
			continue
		}
		list = append(list, map[string]string{name: options[name]})
	}
	return list
}

// pod is there with its identity and the rights that the operator gives it. It returns how the API server is found.
func (n *node) pod(t *testing.T) []string {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "spilo-"}}
	must(t, n.client.Create(t.Context(), namespace))
	n.namespace = namespace.Name
	meta := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: n.namespace, Name: name, Labels: map[string]string{"application": "spilo", "cluster-name": cluster}}
	}
	const identity = "postgres-pod"
	account := &corev1.ServiceAccount{ObjectMeta: meta(identity)}
	all := []string{"create", "get", "list", "patch", "update", "watch"}
	for _, o := range []client.Object{
		account, &corev1.Pod{ObjectMeta: meta(cluster + "-0"), Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "postgres", Image: "x"}}}},
		&rbacv1.Role{ObjectMeta: meta(identity), Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{""}, Resources: []string{"configmaps", "endpoints"}, Verbs: all},
			{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: all[1:]},
			{APIGroups: []string{""}, Resources: []string{"services"}, Verbs: all[:1]},
		}},
		&rbacv1.RoleBinding{
			ObjectMeta: meta(identity), RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: identity},
			Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: n.namespace, Name: identity}},
		},
	} {
		must(t, n.client.Create(t.Context(), o))
	}
	token := &authenticationv1.TokenRequest{}
	must(t, n.client.SubResource("token").Create(t.Context(), account, token))
	config, folder := kubetest.Config(t), postgrestest.Dir(t)
	for name, content := range map[string][]byte{"token": []byte(token.Status.Token), "ca.crt": config.CAData, "namespace": []byte(n.namespace)} {
		path := filepath.Join(folder, name)
		must(t, os.WriteFile(path, content, 0o600))
		postgrestest.Own(t, path)
	}
	server, err := url.Parse(config.Host)
	must(t, err)
	return []string{"KUBERNETES_SERVICE_HOST=" + server.Hostname(), "KUBERNETES_SERVICE_PORT=" + server.Port(), "SERVICE_ACCOUNT=" + folder}
}

// serves asks the server as the operator does: with TLS, and nobody else's word for who it is.
func (n *node) serves(t *testing.T) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), fmt.Sprintf("host=%s user=postgres password=%s dbname=postgres sslmode=require", n.address, password))
	must(t, err)
	defer conn.Close(context.Background())
	for _, want := range append(postgres.Server{}.Expected(settings), wire.Setting{Name: "ssl", Value: "on"}, wire.Setting{Name: "replab.node", Value: cluster + "-0"}) {
		var got string
		var kind postgres.Kind // a node's name is none of the server's own settings, and a text
		must(t, conn.QueryRow(t.Context(), "SELECT current_setting($1)", want.Name).Scan(&got))
		_ = conn.QueryRow(t.Context(), "SELECT coalesce(unit, ''), vartype FROM pg_settings WHERE name = $1", want.Name).Scan(&kind.Unit, &kind.Type)
		if !want.AnyValue && !kind.Same(want.Name, want.Value, got) {
			t.Errorf("%s is %q, want %q", want.Name, got, want.Value)
		}
	}
	var roles int
	must(t, conn.QueryRow(t.Context(), "SELECT count(*) FROM pg_roles WHERE rolname IN ('admin', 'cron_admin')").Scan(&roles))
	if roles != 2 {
		t.Errorf("%d of 2 roles that the operator expects", roles)
	}
	var access []string
	must(t, conn.QueryRow(t.Context(), `SELECT array_agg(concat_ws(' ', type, array_to_string(database, ','), array_to_string(user_name, ','), address, auth_method)
		ORDER BY line_number) FROM pg_hba_file_rules`).Scan(&access))
	if want := (postgres.Server{}).Describe(settings).Access; !slices.Equal(access, want) {
		t.Errorf("the rules of access are %q, want those of the resource, %q", access, want)
	}
	plain, err := pgx.Connect(t.Context(), fmt.Sprintf("host=%s user=postgres password=%s dbname=postgres sslmode=disable", n.address, password))
	must(t, err) // as the app connects
	must(t, plain.Close(t.Context()))
}

// isKnown holds what the operator looks at: the label of the leader's pod, and the objects in which Patroni keeps its state.
func (n *node) isKnown(t *testing.T, store string) {
	t.Helper()
	pod := &corev1.Pod{}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) { // between two looks
		must(t, n.client.Get(t.Context(), client.ObjectKey{Namespace: n.namespace, Name: cluster + "-0"}, pod))
		if pod.Labels["spilo-role"] == "master" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the leader's pod has the labels %v", pod.Labels)
		}
	}
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(store + "List"))
	if store == "Endpoints" {
		list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("EndpointsList"))
	}
	must(t, n.client.List(t.Context(), list, client.InNamespace(n.namespace), client.MatchingLabels{"cluster-name": cluster}))
	kept := map[string]bool{}
	for _, o := range list.Items {
		kept[o.Name] = true
	}
	leader := cluster + "-leader"
	if store == "Endpoints" {
		leader = cluster
	}
	if !kept[leader] || !kept[cluster+"-config"] {
		t.Errorf("of kind %s there are %v, want %s and %s-config", store, kept, leader, cluster)
	}
}

// running is a start program that has become Patroni.
type running struct {
	cmd    *exec.Cmd
	url    string
	ended  chan struct{}
	output *bytes.Buffer // to be read once it has ended
}

func (n *node) start(t *testing.T) *running {
	t.Helper()
	r := &running{cmd: postgrestest.Command(t, "python3", n.program), url: "http://" + n.address + ":8008/primary", ended: make(chan struct{}), output: &bytes.Buffer{}}
	r.cmd.Env = append(r.cmd.Env, n.env...)
	r.cmd.Stdout, r.cmd.Stderr = r.output, r.output
	started := make(chan error, 1)
	go func() { // it goes with the thread that forks: keep that
		runtime.LockOSThread()
		err := r.cmd.Start()
		started <- err
		if err == nil {
			_ = r.cmd.Wait()
		}
		close(r.ended)
	}()
	must(t, <-started)
	t.Cleanup(r.stop)
	return r
}

// stop ends Patroni and its server in good order.
func (r *running) stop() {
	_ = r.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-r.ended:
	case <-time.After(time.Minute):
		_ = r.cmd.Process.Kill()
		<-r.ended
	}
}

func (r *running) await(t *testing.T, status int) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) { // between two looks
		select {
		case <-r.ended:
			t.Fatalf("it ended:\n%s", r.output)
		default:
		}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.url, http.NoBody)
		must(t, err)
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			continue
		}
		_ = answer.Body.Close()
		if answer.StatusCode == status {
			return
		}
	}
	r.stop()
	t.Fatalf("it does not lead within two minutes:\n%s", r.output)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
