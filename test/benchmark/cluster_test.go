//go:build e2e

package benchmark

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/wire"
	"replab.dev/test/experiment"
	"replab.dev/test/forward"
)

const (
	answerTimeout = 5 * time.Second // for the API server to say that it is there
	runTimeout    = 10 * time.Minute
	idleTime      = 30 * time.Second
	look          = time.Second
	metricsPort   = 8443 // of the operator, as config/manager has it
)

// cluster is the one of KUBECONFIG, with the operator installed.
type cluster struct {
	client.Client
	kube     *kubernetes.Clientset
	config   *rest.Config
	operator string // its namespace
	metrics  string // the URL of its metrics
	token    string // of an account that may read them
}

// TestBenchCluster measures the operator, idle and while it carries out experiments/semisync.yaml.
func TestBenchCluster(t *testing.T) {
	Skip(t)
	config, err := answering()
	if err != nil {
		fmt.Printf("%scluster: skipped, since it does not answer (%v). With one: make cluster-up cluster-images install bench-cluster\n", prefix, err)
		t.SkipNow()
	}
	c := connect(t, config)
	c.mustBeIdle(t)

	before, began := c.measure(t), time.Now()
	time.Sleep(idleTime) // what is used meanwhile is measured
	after := c.measure(t)
	share := 100 * (after.cpuSeconds - before.cpuSeconds) / time.Since(began).Seconds()
	Figure{
		What: "operator, idle: of a core", Measured: fmt.Sprintf("%.3f s in %s", after.cpuSeconds-before.cpuSeconds, idleTime),
		Value: share, Unit: "%", Target: AtMost(1),
	}.Print()
	Figure{What: "operator, idle: resident memory", Value: mebibytes(after), Unit: "MiB", Target: AtMost(64)}.Print()

	x, peak := c.carryOut(t, "semisync")
	Figure{What: "operator, during a run: resident memory", Measured: "the most of a sample a second", Value: peak, Unit: "MiB", Target: AtMost(64)}.Print()
	toLoad, loaded := ToLoad(x)
	overhead, over := Overhead(x)
	if !loaded || !over {
		t.Fatalf("the run came to no end that counts: %s %q", x.Status.Verdict, x.Status.Reasons)
	}
	what := fmt.Sprintf("experiments/semisync.yaml (%s)", x.Status.Verdict)
	Figure{What: what, Measured: "from apply to the start of the load", Value: toLoad.Seconds(), Unit: "s", Target: AtMost(60)}.Print()
	Figure{What: what, Measured: "beside the load and holds beyond it", Value: overhead.Seconds(), Unit: "s", Target: AtMost(90)}.Print()
}

// answering returns how to reach the cluster, or why it cannot be reached.
func answering() (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return nil, err
	}
	quick := rest.CopyConfig(config)
	quick.Timeout = answerTimeout
	kube, err := kubernetes.NewForConfig(quick)
	if err != nil {
		return nil, err
	}
	_, err = kube.Discovery().ServerVersion()
	return config, err
}

func connect(t *testing.T, config *rest.Config) *cluster {
	t.Helper()
	check(t, v1alpha1.AddToScheme(scheme.Scheme))
	c := &cluster{config: config, operator: cmp.Or(os.Getenv("NAMESPACE"), "replab-system")}
	var err error
	c.kube, err = kubernetes.NewForConfig(config)
	check(t, err)
	c.Client, err = client.New(config, client.Options{Scheme: scheme.Scheme})
	check(t, err)
	c.token = c.reader(t)
	c.metrics = c.forwarded(t)
	return c
}

// mustBeIdle fails while an experiment runs: its figures and ours would disturb each other.
func (c *cluster) mustBeIdle(t *testing.T) {
	t.Helper()
	var all v1alpha1.ReplicationExperimentList
	check(t, c.List(t.Context(), &all))
	for _, x := range all.Items {
		if !meta.IsStatusConditionTrue(x.Status.Conditions, v1alpha1.ConditionComplete) {
			t.Fatalf("experiment %s/%s is not complete: wait for it, or delete it", x.Namespace, x.Name)
		}
	}
}

// usage is what the operator's process says of itself.
type usage struct{ cpuSeconds, residentBytes float64 }

func mebibytes(u usage) float64 { return u.residentBytes / (1 << 20) }

// reader is the token of an account that may read metrics until the test ends.
func (c *cluster) reader(t *testing.T) string {
	t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: c.operator, GenerateName: "bench-"}}
	check(t, c.Create(t.Context(), account))
	t.Cleanup(func() { _ = c.Delete(context.Background(), account) }) // what is left is seen by its name
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "bench-"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "replab-operator-metrics-reader"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: account.Namespace, Name: account.Name}},
	}
	check(t, c.Create(t.Context(), binding))
	t.Cleanup(func() { _ = c.Delete(context.Background(), binding) })
	token := &authenticationv1.TokenRequest{}
	check(t, c.SubResource("token").Create(t.Context(), account, token))
	return token.Status.Token
}

// forwarded is where the operator's metrics can be read. Of several pods those of the first by name count.
func (c *cluster) forwarded(t *testing.T) string {
	t.Helper()
	pods, err := c.kube.CoreV1().Pods(c.operator).List(t.Context(), metav1.ListOptions{
		LabelSelector: "app.kubernetes.io/name=replab,app.kubernetes.io/component=operator", FieldSelector: "status.phase=Running",
	})
	check(t, err)
	if len(pods.Items) == 0 {
		t.Fatalf("no operator runs in namespace %s: make install", c.operator)
	}
	return fmt.Sprintf("https://127.0.0.1:%d%s", forward.Port(t, c.config, c.operator, pods.Items[0].Name, metricsPort), wire.MetricsPath)
}

// measure reads the operator's metrics.
func (c *cluster) measure(t *testing.T) usage {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.metrics, nil)
	check(t, err)
	request.Header.Set("Authorization", "Bearer "+c.token)
	asking := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}} // as Prometheus does
	response, err := asking.Do(request)
	check(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	check(t, err)
	if response.StatusCode != http.StatusOK {
		t.Fatalf("read the operator's metrics: %s: %.200s", response.Status, text)
	}
	return usage{metric(t, text, "process_cpu_seconds_total"), metric(t, text, "process_resident_memory_bytes")}
}

func metric(t *testing.T, text []byte, name string) float64 {
	t.Helper()
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			v, err := strconv.ParseFloat(value, 64)
			check(t, err)
			return v
		}
	}
	t.Fatalf("the operator's metrics have no %s", name)
	return 0
}

// carryOut runs an experiment in a namespace of its own, and returns it as it then is with the operator's peak in MiB.
func (c *cluster) carryOut(t *testing.T, name string) (*v1alpha1.ReplicationExperiment, float64) {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "bench-"}}
	check(t, c.Create(t.Context(), namespace))
	t.Cleanup(func() { _ = c.Delete(context.Background(), namespace) }) // what is left is seen by its name
	text, err := os.ReadFile(filepath.Join(experiment.Root(), "experiments", name+".yaml"))
	check(t, err)
	asked := &unstructured.Unstructured{} // as it was written: what it lacks is for the API server to fill in
	check(t, yaml.Unmarshal(text, &asked.Object))
	asked.SetNamespace(namespace.Name)
	check(t, c.Create(t.Context(), asked))

	ctx, cancel := context.WithTimeout(t.Context(), runTimeout)
	defer cancel()
	var samples []float64
	for tick := time.NewTicker(look); ; {
		x := &v1alpha1.ReplicationExperiment{}
		check(t, c.Get(ctx, client.ObjectKeyFromObject(asked), x))
		if meta.IsStatusConditionTrue(x.Status.Conditions, v1alpha1.ConditionComplete) {
			return x, slices.Max(samples)
		}
		samples = append(samples, mebibytes(c.measure(t)))
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("experiment %s is not complete after %s: %s", name, runTimeout, x.Status.Phase)
		}
	}
}
