package plugin

import (
	"bytes"
	"context"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"replab.dev/api/v1alpha1"
	"replab.dev/test/kubetest"
)

// writer is written by a command and read by a test.
type writer struct {
	mutex sync.Mutex
	text  bytes.Buffer
}

func (w *writer) Write(p []byte) (int, error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.text.Write(p)
}

func (w *writer) String() string {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.text.String()
}

func (w *writer) streams(errs *writer) genericiooptions.IOStreams {
	return genericiooptions.IOStreams{In: strings.NewReader(""), Out: w, ErrOut: errs}
}

// outcome of a command.
type outcome struct {
	code     int
	out, err string
}

// quick is the time between two looks of a command that a test runs.
const quick = 50 * time.Millisecond

// running is a command that is being carried out on the test's API server, in a namespace.
type running struct {
	out, err writer
	code     chan int
	leave    context.CancelFunc
}

func begin(t *testing.T, namespace string, args ...string) *running {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	r := &running{code: make(chan int, 1), leave: leave}
	o := &Options{IOStreams: r.out.streams(&r.err), Version: "v1.2.3", look: quick}
	args = append([]string{"--kubeconfig", kubetest.Kubeconfig(t), "--cache-dir", t.TempDir(), "--namespace", namespace}, args...)
	go func() { r.code <- execute(ctx, o, args) }()
	return r
}

// shows tells whether it has written something.
func (r *running) shows(text string) func() bool {
	return func() bool { return strings.Contains(r.out.String(), text) }
}

// awaits that it writes something.
func (r *running) awaits(t *testing.T, text string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(quick / 5) {
		if r.shows(text)() {
			return
		}
	}
	t.Fatalf("no %q in:\n%s%s", text, r.out.String(), r.err.String())
}

func (r *running) ends() outcome { return outcome{<-r.code, r.out.String(), r.err.String()} }

// command is one that has ended.
func command(t *testing.T, namespace string, args ...string) outcome {
	t.Helper()
	return begin(t, namespace, args...).ends()
}

// namespace of a test's own.
func namespace(t *testing.T) string {
	t.Helper()
	n := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "plugin-"}}
	if err := kubetest.Client(t).Create(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	return n.Name
}

const semisync = `
apiVersion: replab.dev/v1alpha1
kind: ReplicationExperiment
metadata: {name: semisync}
spec:
  topology: {type: SemiSync, replicas: 1}
  load: {stages: [{name: steady, durationSeconds: 60, users: 1}]}
  faults: [{name: crash, atSeconds: 20, target: Primary, action: Kill, holdSeconds: 5}]
`

// stored makes an experiment with a status.
func stored(t *testing.T, namespace, name string, status v1alpha1.ReplicationExperimentStatus) *v1alpha1.ReplicationExperiment {
	t.Helper()
	asked := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(semisync), &asked.Object); err != nil {
		t.Fatal(err)
	}
	asked.SetNamespace(namespace)
	asked.SetName(name)
	if err := kubetest.Client(t).Create(t.Context(), asked); err != nil {
		t.Fatal(err)
	}
	x := found(t, &v1alpha1.ReplicationExperiment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}})
	x.Status = status
	if err := kubetest.Client(t).Status().Update(t.Context(), x); err != nil {
		t.Fatal(err)
	}
	return x
}

func ended(v v1alpha1.Verdict) v1alpha1.ReplicationExperimentStatus {
	return v1alpha1.ReplicationExperimentStatus{Phase: "Complete", Verdict: v, Conditions: reached(v1alpha1.ConditionAccepted, v1alpha1.ConditionComplete)}
}

// reached are steps that are behind.
func reached(steps ...string) (all []metav1.Condition) {
	for _, s := range steps {
		all = append(all, metav1.Condition{Type: s, Status: metav1.ConditionTrue, Reason: "Done", LastTransitionTime: metav1.Now()})
	}
	return all
}

func TestListShowsWhatWasMeasuredAndADashForWhatWasNot(t *testing.T) {
	created := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	full := v1alpha1.ReplicationExperiment{ObjectMeta: metav1.ObjectMeta{Name: "full", Namespace: "a", CreationTimestamp: metav1.NewTime(created)}}
	full.Spec.Topology.Type, full.Spec.Topology.Engine = v1alpha1.TopologySemiSync, v1alpha1.EngineMySQL
	full.Status = ended(v1alpha1.VerdictPassed)
	full.Status.Load = &v1alpha1.LoadStatus{StageFigures: v1alpha1.StageFigures{
		RequestsPerSecond: ptr.To[int64](80), Latency: &v1alpha1.LatencyStatus{P99Microseconds: 4223, LowerBounds: []v1alpha1.Percentile{v1alpha1.P99}},
	}}
	full.Status.Replication = &v1alpha1.ReplicationStatus{Lag: &v1alpha1.LagStatus{P99Microseconds: ptr.To[int64](441)}}
	full.Status.Writes, full.Status.GhostWrites, full.Status.OutageMilliseconds = &v1alpha1.WritesStatus{Lost: ptr.To[int64](0)}, ptr.To[int64](2), ptr.To[int64](12340)
	bare := v1alpha1.ReplicationExperiment{ObjectMeta: metav1.ObjectMeta{Name: "bare", Namespace: "b", CreationTimestamp: metav1.NewTime(created.Add(time.Minute))}}
	want := [][]string{
		{"NAMESPACE", "NAME", "TOPOLOGY", "ENGINE", "PHASE", "VERDICT", "REQUESTS/S", "P99", "LAG-P99", "LOST", "GHOSTS", "OUTAGE", "AGE"},
		{"a", "full", "SemiSync", "MySQL", "Complete", "Passed", "80", "≥4.22ms", "441µs", "0", "2", "12.3s", "2m"},
		{"b", "bare", "", "-", "-", "-", "-", "-", "-", "-", "-", "-", "60s"},
	}
	if diff := cmp.Diff(want, rows([]v1alpha1.ReplicationExperiment{full, bare}, true, created.Add(2*time.Minute))); diff != "" {
		t.Error("(-want +got):\n" + diff)
	}
}

// TestListRoundsNoBoundAway: a lower bound is never shown as more, and an upper one never as less.
func TestListRoundsNoBoundAway(t *testing.T) {
	for us, want := range map[int64]string{9996: "≥9.99ms", 99_960: "≥99.9ms", 999_600: "≥999ms", 12_349_990: "≥12.3s", 1_999_999: "≥1.99s", 999: "≥999µs", 0: "≥0µs", 150_900_000: "≥150s"} {
		if got := percentile(&us, []v1alpha1.Percentile{v1alpha1.P99}); got != want {
			t.Errorf("at least %d µs is %s, want %s", us, got, want)
		}
	}
	for ms, want := range map[int64]string{12_340: "≤12.4s", 9994: "≤10.0s", 9990: "≤9.99s", 100: "≤100ms", 99_910: "≤100s", 0: "≤0µs", 150_100: "≤151s"} {
		if got := outage(&ms, ptr.To[int64](7)); got != want {
			t.Errorf("at most %d ms is %s, want %s", ms, got, want)
		}
	}
	open := []v1alpha1.GoalStatus{{Metric: "lostWrites", Measured: ptr.To[int64](3), Met: metav1.ConditionUnknown}}
	if got, sure := losses(ptr.To[int64](3), open), losses(ptr.To[int64](3), nil); got != "≥3" || sure != "3" || losses(nil, open) != "-" {
		t.Errorf("losses are %s, of an open goal, and %s", sure, got)
	}
}

func TestListOfANamespaceAndOfAll(t *testing.T) {
	here, there := namespace(t), namespace(t)
	stored(t, here, "first", ended(v1alpha1.VerdictFailed))
	stored(t, there, "second", v1alpha1.ReplicationExperimentStatus{})
	got := command(t, here, "list")
	if got.code != ExitOK || !strings.Contains(got.out, "first") || !strings.Contains(got.out, "Failed") || strings.Contains(got.out, "second") {
		t.Errorf("%+v", got)
	}
	if got := command(t, here, "list", "-A"); !strings.Contains(got.out, there) || !strings.Contains(got.out, here) {
		t.Errorf("of all: %+v", got)
	}
	if got := command(t, here, "list", "-o", "name"); got.out != "replicationexperiment.replab.dev/first\n" {
		t.Errorf("names: %+v", got)
	}
	if got := command(t, here, "list", "-o", "yaml"); !strings.Contains(got.out, "kind: ReplicationExperimentList") || !strings.Contains(got.out, "verdict: Failed") {
		t.Errorf("YAML: %+v", got)
	}
	if got := command(t, "nobody", "list"); got.code != ExitOK || got.out != "" || !strings.Contains(got.err, "no experiments in namespace nobody") {
		t.Errorf("of an empty namespace: %+v", got)
	}
}

func TestAbortEndsARunAndNotOneThatIsOver(t *testing.T) {
	here := namespace(t)
	stored(t, here, "over", ended(v1alpha1.VerdictPassed))
	running := stored(t, here, "running", v1alpha1.ReplicationExperimentStatus{})
	stored(t, here, "cleaning", v1alpha1.ReplicationExperimentStatus{Phase: "CleaningUp", Verdict: v1alpha1.VerdictFailed})
	if got := command(t, here, "abort", "cleaning"); got.code != ExitOK || got.out != "experiment cleaning is over already: Failed\n" {
		t.Errorf("one that has its verdict: %+v", got)
	}
	if got := command(t, here, "abort", "over", "running"); got.code != ExitOK || !strings.Contains(got.out, "over is over already: Passed") || !strings.Contains(got.out, "running is being ended") {
		t.Errorf("%+v", got)
	}
	if found(t, running); !running.Spec.Abort {
		t.Error("abort was not set")
	}
	if over := (&v1alpha1.ReplicationExperiment{ObjectMeta: metav1.ObjectMeta{Namespace: here, Name: "over"}}); found(t, over).Spec.Abort {
		t.Error("abort was set in a run that is over")
	}
	if got := command(t, here, "abort", "nobody"); got.code != ExitNotRun || !strings.Contains(got.err, "no experiment nobody in namespace "+here) {
		t.Errorf("one that is not there: %+v", got)
	}
}

func found(t *testing.T, x *v1alpha1.ReplicationExperiment) *v1alpha1.ReplicationExperiment {
	t.Helper()
	if err := kubetest.Client(t).Get(t.Context(), client.ObjectKeyFromObject(x), x); err != nil {
		t.Fatal(err)
	}
	return x
}

func TestAClusterThatCannotBeReached(t *testing.T) {
	var out, errs bytes.Buffer
	t.Setenv("KUBECONFIG", os.DevNull)
	code := Execute(context.Background(), "v1", []string{"--server", "http://127.0.0.1:1", "list"}, genericiooptions.IOStreams{Out: &out, ErrOut: &errs})
	if code != ExitNotRun || !strings.Contains(errs.String(), "error: ") {
		t.Errorf("code %d, %q", code, errs.String())
	}
}

func TestVersionAndUnknownWords(t *testing.T) {
	var out, errs bytes.Buffer
	streams := genericiooptions.IOStreams{Out: &out, ErrOut: &errs}
	if code := Execute(t.Context(), "v1.2.3", []string{"version"}, streams); code != ExitOK || !strings.HasPrefix(out.String(), "kubectl-replab v1.2.3 go") {
		t.Errorf("code %d, %q", code, out.String())
	}
	if code := Execute(t.Context(), "v1.2.3", []string{"lits"}, streams); code != ExitNotRun || !strings.Contains(errs.String(), "unknown command") {
		t.Errorf("code %d, %q", code, errs.String())
	}
}
