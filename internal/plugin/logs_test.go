package plugin

import (
	"bytes"
	"errors"
	"io"
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
	"replab.dev/internal/plugin/follow/followtest"
	"replab.dev/test/kubetest"
)

func TestWhoseLogsArePrinted(t *testing.T) {
	t.Parallel()
	server, here := kubetest.Client(t), namespace(t)
	stored(t, here, "semisync", ended(v1alpha1.VerdictPassed))
	if got := command(t, here, "logs", "semisync"); got.code != ExitNotRun || !strings.Contains(got.err, "has no such pods") {
		t.Errorf("without pods: %+v", got)
	}
	if got := command(t, here, "logs", "nobody"); got.code != ExitNotRun || !strings.Contains(got.err, "no experiment nobody") {
		t.Errorf("without an experiment: %+v", got)
	}
	running := corev1.ContainerStatus{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}, RestartCount: 1}
	for name, component := range map[string]string{"semisync-db-0": kube.ComponentNode, "semisync-witness-0": kube.ComponentWitness, "other-0": kube.ComponentWitness} {
		experiment, _, _ := strings.Cut(name, "-")
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: here, Name: name, Labels: map[string]string{kube.LabelExperiment: experiment, kube.LabelComponent: component}},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "none"}, {Name: "waits", Image: "none"}}},
		}
		if err := server.Create(t.Context(), pod); err != nil {
			t.Fatal(err)
		}
		running.Name = "main"
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{running, {Name: "waits"}}
		if err := server.Status().Update(t.Context(), pod); err != nil {
			t.Fatal(err)
		}
	}
	c := Cluster{Namespace: here}
	c.Client = server
	for _, q := range []struct {
		parts    []string
		previous bool
		want     []string
	}{
		{nil, false, []string{"semisync-db-0/main", "semisync-witness-0/main"}},
		{[]string{"witness"}, true, []string{"semisync-witness-0/main"}},
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
	l := &lines{to: &out}
	err := l.copy(source{pod: "p", container: "c", only: `"a"`}, io.NopCloser(strings.NewReader("{\"name\":\"a\"}\t\x1b[2J\n{\"name\":\"ab\"}\n")))
	if out.String() != "[p/c] {\"name\":\"a\"}\t [2J\n" || err != nil {
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
	want := `Name       semisync in namespace default, 12s old
Topology   SemiSync of MySQL, 2 beside the primary, behind HAProxy
Stage      warmup: 4 users, 5 s, discarded
Stage      open: 80 requests/s asked for, 45 s
Fault      crash: Kill of the Primary at 20 s
Goal       lostWrites at most 0
Goal       requestsPerSecond at least 70

Now        Seeding: loading 10000 users
Steps      Accepted 0 s, Deployed 0 s
Next       kubectl replab watch semisync -n default
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error("(-want +got):\n" + diff)
	}
	here := namespace(t)
	stored(t, here, "semisync", ended(v1alpha1.VerdictFailed))
	if got := command(t, here, "describe", "semisync"); got.code != ExitOK || !strings.Contains(got.out, "Verdict    Failed") {
		t.Errorf("of one that is over: %+v", got)
	}
}
