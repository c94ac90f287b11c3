package plugin

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
	"replab.dev/internal/plain"
	"replab.dev/internal/plugin/follow/followtest"
	"replab.dev/test/kubetest"
)

// begun is a pod of which one container runs, for the second time, and one waits.
func begun(t *testing.T, namespace, name, node string, labels map[string]string) {
	t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels},
		Spec:       corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "main", Image: "none"}, {Name: "waits", Image: "none"}}},
	}
	if err := kubetest.Client(t).Create(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: running, RestartCount: 1}, {Name: "waits"}}
	if err := kubetest.Client(t).Status().Update(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
}

// kubelet answers for a node of which the API server asks for logs.
func kubelet(t *testing.T, node string, answer http.HandlerFunc) {
	t.Helper()
	s := httptest.NewTLSServer(answer)
	t.Cleanup(s.Close)
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}}
	if err := kubetest.Client(t).Create(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	at := s.Listener.Addr().(*net.TCPAddr)
	n.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: at.IP.String()}}
	n.Status.DaemonEndpoints.KubeletEndpoint.Port = int32(at.Port) //nolint:gosec // a port
	if err := kubetest.Client(t).Status().Update(t.Context(), n); err != nil {
		t.Fatal(err)
	}
}

// TestLogsComeFromTheKubelet: each line with whose it is, and what could not be read has an exit code.
func TestLogsComeFromTheKubelet(t *testing.T) {
	t.Parallel()
	here, there := namespace(t), namespace(t)
	kubelet(t, here, func(w http.ResponseWriter, r *http.Request) {
		of := strings.Split(r.URL.Path, "/")[3] // containerLogs, namespace, pod, container
		switch {
		case of == "semisync-recorder-0" && !r.URL.Query().Has("follow"):
			http.Error(w, "rotated away", http.StatusInternalServerError)
		case of == "operator-0":
			fmt.Fprintln(w, `{"name":"semisync"}`)
			fmt.Fprintln(w, `{"name":"semisync-2"}`)
		default:
			fmt.Fprintln(w, r.URL.RawQuery)
		}
		if r.URL.Query().Has("follow") {
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}
	})
	labels := func(component string) map[string]string {
		return map[string]string{kube.LabelExperiment: "semisync", kube.LabelComponent: component}
	}
	begun(t, here, "semisync-db-0", here, labels(kube.ComponentNode))
	begun(t, here, "semisync-recorder-0", here, labels(kube.ComponentRecorder))
	begun(t, there, "operator-0", here, operatorLabels)
	for _, c := range []struct {
		args     []string
		code     int
		out, err string
	}{
		{[]string{"node", "--tail", "7", "--timestamps"}, ExitOK, "[semisync-db-0/main] tailLines=7&timestamps=true\n", ""},
		{[]string{"node", "-p"}, ExitOK, "[semisync-db-0/main] previous=true\n", ""},
		{[]string{"operator"}, ExitOK, "[operator-0/main] {\"name\":\"semisync\"}\n", ""},
		{nil, ExitNotRun, "[semisync-db-0/main] \n", "log of container main of pod semisync-recorder-0: "},
	} {
		if got := command(t, here, append([]string{"logs", "semisync"}, c.args...)...); got.code != c.code || got.out != c.out || !strings.HasPrefix(got.err, c.err) || c.err == "" && got.err != "" {
			t.Errorf("%q: %+v", c.args, got)
		}
	}
	following := begin(t, here, "logs", "semisync", "-f")
	following.awaits(t, "[semisync-db-0/main] follow=true\n")
	following.awaits(t, "[semisync-recorder-0/main] follow=true\n")
	following.leave()
	if got := following.ends(); got.code != ExitInterrupted || got.err != "" {
		t.Errorf("whoever leaves: %+v", got)
	}
}

func TestWhoseLogsArePrinted(t *testing.T) {
	t.Parallel()
	server, here := kubetest.Client(t), namespace(t)
	stored(t, here, "semisync", ended(v1alpha1.VerdictPassed))
	if got := command(t, here, "logs", "semisync"); got.code != ExitNotRun || !strings.Contains(got.err, "has no such pods") {
		t.Errorf("without pods: %+v", got)
	}
	if got := command(t, here, "logs", "semisync", "-p"); got.code != ExitNotRun || !strings.Contains(got.err, "leave -p out") {
		t.Errorf("without earlier containers: %+v", got)
	}
	if got := command(t, here, "logs", "nobody"); got.code != ExitNotRun || !strings.Contains(got.err, "no experiment nobody") {
		t.Errorf("without an experiment: %+v", got)
	}
	for name, component := range map[string]string{"semisync-db-0": kube.ComponentNode, "semisync-recorder-0": kube.ComponentRecorder, "other-0": kube.ComponentRecorder} {
		experiment, _, _ := strings.Cut(name, "-")
		begun(t, here, name, "", map[string]string{kube.LabelExperiment: experiment, kube.LabelComponent: component})
	}
	c := Cluster{Namespace: here}
	c.Client = server
	for _, q := range []struct {
		parts    []string
		previous bool
		want     []string
	}{
		{nil, false, []string{"semisync-db-0/main", "semisync-recorder-0/main"}},
		{[]string{"recorder"}, true, []string{"semisync-recorder-0/main"}},
		{[]string{"semisync-db-0"}, false, []string{"semisync-db-0/main"}},
		{[]string{"audit"}, false, nil},
	} {
		all, err := c.sources(t.Context(), "semisync", q.parts, q.previous)
		var got []string
		for _, s := range all {
			got = append(got, s.pod+"/"+s.container)
		}
		if diff := cmp.Diff(q.want, got); err != nil || diff != "" {
			t.Errorf("parts %v: %v, (-want +got):\n%s", q.parts, err, diff)
		}
	}
}

func TestLinesOfTheOperatorAreThoseThatNameTheExperiment(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	l := &lines{to: plain.Writer(&out)}
	err := l.copy(source{pod: "p", container: "c", only: `"a"`}, io.NopCloser(strings.NewReader("{\"name\":\"a\"}\t\x1b[2J\n{\"name\":\"ab\"}\n")))
	if out.String() != "[p/c] {\"name\":\"a\"}\t [2J\n" || err != nil {
		t.Errorf("%q, %v", out.String(), err)
	}
}

func TestLogsGiveCIServersNoCommand(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	l := &lines{to: plain.Writer(&out)}
	err := l.copy(source{pod: "p", container: "c"}, io.NopCloser(strings.NewReader("a\t##[add-path]/tmp\n##vso[task.complete]\n")))
	if out.String() != "[p/c] a\t##\u200b[add-path]/tmp\n[p/c] ##\u200bvso[task.complete]\n" || err != nil {
		t.Errorf("%q, %v", out.String(), err)
	}
}

func TestALogThatBreaksOffSaysSo(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	l := &lines{to: &out}
	broken := io.MultiReader(strings.NewReader("one\ntwo\n"), iotest.ErrReader(io.ErrUnexpectedEOF))
	if err := l.copy(source{pod: "p", container: "c"}, io.NopCloser(broken)); !errors.Is(err, io.ErrUnexpectedEOF) || strings.Count(out.String(), "\n") != 2 {
		t.Errorf("%q, %v", out.String(), err)
	}
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	created := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	x := followtest.Run()[2].Experiment.DeepCopy()
	x.CreationTimestamp = metav1.NewTime(created)
	x.Spec.Goals = []v1alpha1.Goal{{Metric: "lostWrites", Max: ptr.To[int64](0)}, {Metric: "requestsPerSecond", Min: ptr.To[int64](70)}}
	var out bytes.Buffer
	describe(&out, x, created.Add(12*time.Second))
	want := `Name      semisync in namespace default, 12s old
Topology  SemiSync of MySQL, 3 nodes, behind HAProxy
Stage     warmup: 5 s of 4 users, discarded
Stage     open: 45 s of 80 requests/s
Fault     crash: Kill of the Primary at 20 s, held for 10 s
Goal      lostWrites at most 0
Goal      requestsPerSecond at least 70

Now       Seeding: loading 10000 users
Steps     Accepted 0 s, Deployed 0 s
Next      kubectl replab watch semisync -n default
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error("(-want +got):\n" + diff)
	}
	out.Reset()
	x.Status.Verdict, x.Status.Reasons = v1alpha1.VerdictFailed, []string{"Goal lostWrites (max 0) was missed: measured 3."}
	describe(&out, x, created.Add(12*time.Second))
	verdict := "default, 12s old\nVerdict   Failed\nReason    Goal lostWrites (max 0) was missed: measured 3.\n"
	if said := out.String(); !strings.Contains(said, verdict) || strings.Count(said, "was missed") != 1 {
		t.Errorf("of one that failed: no %q, once, in\n%s", verdict, said)
	}
	here := namespace(t)
	over := ended(v1alpha1.VerdictFailed)
	over.Goals = []v1alpha1.GoalStatus{{Metric: "ghostWrites", Limit: "max 0", Met: metav1.ConditionFalse}}
	stored(t, here, "semisync", over)
	got := command(t, here, "describe", "semisync")
	for _, want := range []string{"Verdict   Failed\n", "\nNext      An old primary has writes", "`kubectl replab report semisync -n " + here + " --file report.html`"} {
		if got.code != ExitOK || !strings.Contains(got.out, want) {
			t.Errorf("of one that is over: no %q in %+v", want, got)
		}
	}
}
