package plugin

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
	"replab.dev/internal/plan"
	"replab.dev/internal/runs"
	"replab.dev/test/docs"
	"replab.dev/test/kubetest"
)

// TestDoctorBeforeAndAfterAnInstallation: what stands in for one is made step by step, and the exit code turns with it.
func TestDoctorBeforeAndAfterAnInstallation(t *testing.T) {
	server, here := kubetest.Client(t), namespace(t)
	if err := server.Patch(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: here}}, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"baseline"}}}`))); err != nil {
		t.Fatal(err)
	}
	got := command(t, here, "doctor")
	for _, want := range []string{"it has no pod in the cluster", "there is no storage class", "you may run, watch, end and read experiments in namespace " + here, "postgresqls.acid.zalan.do", "enforces baseline"} {
		if got.code != ExitFailed || !strings.Contains(got.out, want) {
			t.Errorf("before: code %d, no %q in:\n%s%s", got.code, want, got.out, got.err)
		}
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: here, Name: "replab-operator-0", Labels: kube.With(plan.OperatorLabels, "app.kubernetes.io/version", "1.2.3")},
		Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: "operator", Image: "replab:v1.2.3"}},
			Volumes:    []corev1.Volume{{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "catalogue"}}}}},
		},
	}
	catalogue := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: here, Name: "catalogue"}, Data: map[string]string{"operator.json": `{"images":{"replab":"replab:v1.2.3","k6":"k6:1","servers":{"MySQL":"mysql:9"}}}`}}
	class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "plugin-standard", Annotations: map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}}, Provisioner: "none"}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "plugin-node"}}
	evicted := pod.DeepCopy()
	evicted.Name = "replab-operator-evicted"
	for _, o := range []client.Object{pod, evicted, catalogue, class, node} {
		if err := server.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = server.Delete(context.WithoutCancel(t.Context()), o) }) // the other tests have none of it
	}
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	node.Spec.Taints = nil // it is made as one that is not ready
	if err := server.Update(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	node.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4")}
	node.Status.Images = []corev1.ContainerImage{{Names: []string{"docker.io/library/mysql:9"}}, {Names: []string{"docker.io/k6:1"}}}
	evicted.Status.Phase = corev1.PodFailed
	for _, o := range []client.Object{pod, evicted, node} {
		if err := server.Status().Update(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	got = command(t, here, "doctor")
	for _, want := range []string{"of the plugin's version v1.2.3", "default storage class plugin-standard", "1 of the operator's 3 images are on none of the listed nodes. They are pulled when an experiment needs them: replab:v1.2.3\n", "4000 millicores"} {
		if got.code != ExitOK || !strings.Contains(got.out, want) {
			t.Errorf("after: code %d, no %q in:\n%s%s", got.code, want, got.out, got.err)
		}
	}
	if strings.Contains(got.out, evicted.Name) {
		t.Errorf("a pod that was evicted is still looked at:\n%s", got.out)
	}
}

func TestDoctorOfANamespaceThatDoesNotExist(t *testing.T) {
	t.Parallel()
	got := command(t, "none-of-this-name", "doctor")
	if got.code != ExitFailed || !strings.Contains(strings.Join(strings.Fields(got.out), " "), "BAD namespace there is no namespace none-of-this-name") {
		t.Errorf("%+v", got)
	}
}

// refusing is an API server that answers some paths, which end with a text, with a status, and asks the test's for all others.
func refusing(t *testing.T, status int, ending string) string {
	t.Helper()
	config := kubetest.Config(t)
	to, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	if to.Scheme == "" {
		to = &url.URL{Scheme: "https", Host: config.Host}
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, ending) {
			w.WriteHeader(status)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// TestWhatCannotBeAsked is neither fit nor unfit, where all hangs on it; else it is said.
func TestWhatCannotBeAsked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		ending string
		code   int
		want   string
	}{
		{http.StatusUnauthorized, "", ExitNotRun, "error: the API server refused your credentials: log in again"},
		{http.StatusForbidden, "", ExitNotRun, "error: ask the API server for the custom resource: "},
		{http.StatusForbidden, "/selfsubjectaccessreviews", ExitNotRun, "error: ask the API server for your permissions: "},
		{http.StatusForbidden, "/nodes", ExitFailed, "note free CPU could not be checked: "}, // there is no operator: that is what is unfit
		{http.StatusForbidden, "/storageclasses", ExitFailed, "note storage could not be checked: "},
		{http.StatusForbidden, "/pods", ExitOK, "note operator could not be checked: "},
	} {
		config := filepath.Join(t.TempDir(), "none")
		if err := os.WriteFile(config, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		var out, errs bytes.Buffer
		args := []string{"--kubeconfig", config, "--cache-dir", t.TempDir(), "--server", refusing(t, c.status, c.ending), "doctor"}
		code := Execute(t.Context(), "v1", engines, args, genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errs})
		if all := strings.Join(strings.Fields(out.String()+errs.String()), " "); code != c.code || !strings.Contains(all, c.want) {
			t.Errorf("%d at %q: exit code %d, want %d and %q in\n%s", c.status, c.ending, code, c.code, c.want, all)
		}
	}
}

// TestTheRolesOfThePage give what the page says, and no more.
func TestTheRolesOfThePage(t *testing.T) {
	server, here := kubetest.Client(t), namespace(t)
	for _, block := range docs.Read(t, "docs/reference/kubectl-replab.md").Blocks {
		if block.Language != "yaml" {
			continue
		}
		var role rbacv1.Role
		if err := yaml.UnmarshalStrict([]byte(block.Text), &role); err != nil {
			t.Fatal(err)
		}
		role.Namespace = here
		binding := &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: here, Name: role.Name},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: role.Name}},
		}
		for _, o := range []client.Object{&role, binding} {
			if err := server.Create(t.Context(), o); err != nil {
				t.Fatal(err)
			}
		}
	}
	stored(t, here, "semisync", ended(v1alpha1.VerdictPassed))
	as := func(user string, code int, want string, args ...string) {
		t.Helper()
		var got outcome
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(quick) { // the API server learns of a role after a moment
			if got = command(t, here, append(args, "--as", user)...); got.code == code && strings.Contains(got.out+got.err, want) {
				return
			}
		}
		t.Errorf("%s %q: %+v, want exit code %d and %q", user, args, got, code, want)
	}
	as("experiments", ExitOK, "you may run, watch, end and read experiments in namespace "+here, "doctor")
	as("watch-semisync", ExitOK, "Verdict   Passed", "watch", "semisync")
	as("watch-semisync", ExitNotRun, "forbidden", "list")
	as("nobody", ExitFailed, "in namespace "+here+" you may not get replicationexperiments, list replicationexperiments, create replicationexperiments, "+
		"patch replicationexperiments, get configmaps: the role in", "doctor")
	as("nobody", ExitFailed, "you may not get services/proxy; needed for live figures", "doctor")
	as("nobody", ExitFailed, "you may not get replicationsuites, list replicationsuites, create replicationsuites, patch replicationsuites; needed for suites", "doctor")
	as("nobody", ExitFailed, "you may not delete replicationexperiments, delete replicationsuites; needed for --replace", "doctor")
}

func TestOperatorLabelsAreThoseOfThePlan(t *testing.T) {
	for k, v := range plan.OperatorLabels {
		if operatorLabels[k] != v {
			t.Errorf("label %s is %q, want %q", k, operatorLabels[k], v)
		}
	}
}

func TestClockOfTheAPIServer(t *testing.T) {
	reached, err := runs.New(kubetest.Config(t), look)
	if err != nil {
		t.Fatal(err)
	}
	c := Cluster{Cluster: reached, Config: kubetest.Config(t)}
	ahead, width, err := c.clock(t.Context())
	if err != nil || ahead.Abs() > width || width > time.Minute {
		t.Errorf("the same clock is %v ahead, known to %v: %v", ahead, width, err)
	}
}
