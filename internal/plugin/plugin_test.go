package plugin

import (
	"bytes"
	"context"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
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
	out, err *writer
	code     chan int
	leave    context.CancelFunc
}

func begin(t *testing.T, namespace string, args ...string) *running {
	t.Helper()
	return beginAs(t, &Options{}, namespace, args...)
}

// beginAs begins a command with options of its own.
func beginAs(t *testing.T, o *Options, namespace string, args ...string) *running {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	r := &running{out: &writer{}, err: &writer{}, code: make(chan int, 1), leave: leave}
	o.IOStreams, o.Version, o.Servers, o.look = r.out.streams(r.err), "v1.2.3", engines, quick
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
  topology: {type: SemiSync, nodes: 2}
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
	return v1alpha1.ReplicationExperimentStatus{
		StartTime: ptr.To(metav1.Now()), Phase: "Complete", Verdict: v, Conditions: reached(v1alpha1.ConditionAccepted, v1alpha1.ConditionComplete),
	}
}

// reached are steps that are behind.
func reached(steps ...string) (all []metav1.Condition) {
	for _, s := range steps {
		all = append(all, metav1.Condition{Type: s, Status: metav1.ConditionTrue, Reason: "Done", LastTransitionTime: metav1.Now()})
	}
	return all
}

func TestAbortEndsARunAndNotOneThatIsOver(t *testing.T) {
	here := namespace(t)
	stored(t, here, "over", ended(v1alpha1.VerdictPassed))
	running := stored(t, here, "running", v1alpha1.ReplicationExperimentStatus{})
	stored(t, here, "cleaning", v1alpha1.ReplicationExperimentStatus{Phase: "CleaningUp", Verdict: v1alpha1.VerdictFailed})
	if got := command(t, here, "abort", "cleaning"); got.code != ExitOK || got.out != "experiment cleaning has already ended: Failed\n" {
		t.Errorf("one that has its verdict: %+v", got)
	}
	if got := command(t, here, "abort", "over", "running"); got.code != ExitOK || !strings.Contains(got.out, "over has already ended: Passed") || !strings.Contains(got.out, "running is being ended") || !strings.Contains(got.out, "`kubectl replab watch running -n "+here+"`") {
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
	code := Execute(context.Background(), "v1", engines, []string{"--server", "http://127.0.0.1:1", "list"}, genericiooptions.IOStreams{Out: &out, ErrOut: &errs})
	if code != ExitNotRun || !strings.Contains(errs.String(), "error: ") {
		t.Errorf("code %d, %q", code, errs.String())
	}
}

func TestWithoutReplabTheRemedyIsItsInstallation(t *testing.T) {
	t.Parallel()
	missing := &meta.NoKindMatchError{GroupKind: v1alpha1.GroupVersion.WithKind(experimentKind).GroupKind(), SearchedVersions: []string{v1alpha1.GroupVersion.Version}}
	const want = "replab is not installed: see docs/how-to/install.md#the-operator, then run `kubectl replab doctor`"
	if got := explained(missing); got.Error() != want {
		t.Errorf("%q", got)
	}
}

func TestVersionAndUnknownWords(t *testing.T) {
	var out, errs bytes.Buffer
	streams := genericiooptions.IOStreams{Out: &out, ErrOut: &errs}
	if code := Execute(t.Context(), "v1.2.3", engines, []string{"version"}, streams); code != ExitOK || !strings.HasPrefix(out.String(), "kubectl-replab v1.2.3 go") {
		t.Errorf("code %d, %q", code, out.String())
	}
	if code := Execute(t.Context(), "v1.2.3", engines, []string{"lits"}, streams); code != ExitNotRun || !strings.Contains(errs.String(), "unknown command") {
		t.Errorf("code %d, %q", code, errs.String())
	}
}

// TestNamesAreCompleted as kubectl asks for it: by a link to the plugin.
func TestNamesAreCompleted(t *testing.T) {
	here := namespace(t)
	stored(t, here, "first", ended(v1alpha1.VerdictPassed))
	stored(t, here, "second", v1alpha1.ReplicationExperimentStatus{})
	for want, words := range map[string][]string{"first\nsecond\n:4\n": {"watch", ""}, ":4\n": {"watch", "first", ""}} {
		var out, errs bytes.Buffer
		args := append([]string{"/usr/local/bin/" + completer, "--kubeconfig", kubetest.Kubeconfig(t), "--cache-dir", t.TempDir(), "-n", here}, words...)
		if code := Main("v1", engines, args, genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errs}); code != ExitOK || out.String() != want {
			t.Errorf("%q: code %d, %q, want %q; %s", words, code, out.String(), want, errs.String())
		}
	}
}

// TestWhoLeavesBeforeThereIsAnAnswer has interrupted the command, which has not failed.
func TestWhoLeavesBeforeThereIsAnAnswer(t *testing.T) {
	t.Parallel()
	ctx, leave := context.WithCancel(t.Context())
	leave()
	var out, errs bytes.Buffer
	args := []string{"--kubeconfig", kubetest.Kubeconfig(t), "--cache-dir", t.TempDir(), "list"}
	code := Execute(ctx, "v1", engines, args, genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errs})
	if code != ExitInterrupted || !strings.Contains(errs.String(), "error: list the experiments: ") {
		t.Errorf("exit code %d: %s", code, errs.String())
	}
}

func TestAMissedGoalIsWorseThanAnUnknownOne(t *testing.T) {
	for _, c := range [][3]int{
		{ExitUnknown, ExitFailed, ExitFailed},
		{ExitFailed, ExitUnknown, ExitFailed},
		{ExitFailed, ExitNotRun, ExitNotRun},
		{ExitOK, ExitUnknown, ExitUnknown},
		{ExitOK, ExitOK, ExitOK},
	} {
		if got := worse(c[0], c[1]); got != c[2] {
			t.Errorf("of %d and %d: %d, want %d", c[0], c[1], got, c[2])
		}
	}
}
