package plugin

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"replab.dev/api/v1alpha1"
	"replab.dev/test/kubetest"
	"replab.dev/test/unit"
)

// asPlugin in the environment makes the test's binary the plugin: a terminal runs a program.
const asPlugin = "REPLAB_TEST_AS_PLUGIN"

func TestMain(m *testing.M) {
	if os.Getenv(asPlugin) != "" {
		os.Exit(Main("v1.2.3", engines, os.Args, genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}))
	}
	os.Exit(kubetest.Main(m))
}

// session is a real terminal, of tmux.
type session struct {
	t      *testing.T
	socket string
}

func newTerminal(t *testing.T, command string) session {
	t.Helper()
	unit.Leave(t)
	if _, err := exec.LookPath("tmux"); err != nil {
		if os.Getenv("REPLAB_REQUIRE_TMUX") != "" {
			t.Fatal("no tmux here: install the package of that name")
		}
		t.Skip("no tmux here: install the package of that name")
	}
	x := session{t, filepath.Join(t.TempDir(), "tmux")}
	x.tmux("-f", os.DevNull, "new-session", "-d", "-x", "100", "-y", "30", command)
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", x.socket, "kill-server").Run() }) // the last session may have ended it
	return x
}

func (x session) tmux(args ...string) string {
	x.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", x.socket}, args...)...).CombinedOutput()
	if err != nil {
		x.t.Fatalf("tmux %v: %v: %s", args, err, out)
	}
	return string(out)
}

// shows waits until the terminal shows all words.
func (x session) shows(words ...string) {
	x.t.Helper()
	var screen string
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(look / 5) {
		screen = x.tmux("capture-pane", "-p")
		missing := false
		for _, w := range words {
			missing = missing || !strings.Contains(screen, w)
		}
		if !missing {
			return
		}
	}
	x.t.Fatalf("the terminal does not show %q:\n%s", words, screen)
}

// shell is the command line that runs the plugin and tells its exit code.
func shell(t *testing.T, namespace string, args ...string) string {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s=1 %s --kubeconfig %s --cache-dir %s -n %s %s; echo code=$?; sleep 60",
		asPlugin, binary, kubetest.Kubeconfig(t), t.TempDir(), namespace, strings.Join(args, " "))
}

func TestARunInATerminal(t *testing.T) {
	t.Parallel()
	here := namespace(t)
	x := newTerminal(t, shell(t, here, "run", file(t, semisync)))
	x.shows("semisync", "steps", "Waiting for the operator", "Kill of the Primary at 20 s", "ctrl-c leaves")
	var seen atomic.Bool
	operate(t, here, "semisync", v1alpha1.VerdictFailed, seen.Load)
	x.shows("fault crash: injected into semisync-db-0")
	seen.Store(true)
	x.shows("fault crash: injected into semisync-db-0", "Verdict   Failed", "code=1")
}

// TestNoColourIsRespected of a run that failed, which else is red.
func TestNoColourIsRespected(t *testing.T) {
	t.Parallel()
	here := namespace(t)
	stored(t, here, "semisync", ended(v1alpha1.VerdictFailed))
	const red = "\x1b[31m"
	for environment, coloured := range map[string]bool{"": true, "NO_COLOR=1 ": false} {
		x := newTerminal(t, environment+shell(t, here, "watch", "semisync"))
		x.shows("Verdict   Failed", "code=1")
		if got := x.tmux("capture-pane", "-p", "-e"); strings.Contains(got, red) != coloured {
			t.Errorf("with %q: %q", environment, got)
		}
	}
}

// TestExitCodesInATerminal are those of a pipe: TestARunInATerminal has that of a run that failed.
func TestExitCodesInATerminal(t *testing.T) {
	t.Parallel()
	for verdict, code := range map[v1alpha1.Verdict]int{v1alpha1.VerdictPassed: ExitOK, v1alpha1.VerdictInconclusive: ExitUnknown} {
		here := namespace(t)
		operate(t, here, "semisync", verdict, atOnce)
		newTerminal(t, shell(t, here, "run", file(t, semisync))).shows("Verdict   "+string(verdict), fmt.Sprintf("code=%d", code))
	}
	newTerminal(t, shell(t, "default", "run", "/no/such/file.yaml")).shows("error: ", fmt.Sprintf("code=%d", ExitNotRun))
}

func TestAPageIsNotForATerminal(t *testing.T) {
	t.Parallel()
	here := namespace(t)
	kept(t, here, "semisync")
	newTerminal(t, shell(t, here, "report", "semisync")).shows("error: a page is not for a terminal", fmt.Sprintf("code=%d", ExitNotRun))
}

func TestCtrlCInATerminal(t *testing.T) {
	t.Parallel()
	here := namespace(t)
	stored(t, here, "semisync", v1alpha1.ReplicationExperimentStatus{Phase: "Seeding"})
	x := newTerminal(t, shell(t, here, "watch", "semisync"))
	x.shows("Seeding", "ctrl-c leaves")
	x.tmux("send-keys", "C-c")
	x.shows("Experiment semisync goes on", "kubectl replab watch semisync -n "+here, "code=130")
	if got := found(t, &v1alpha1.ReplicationExperiment{ObjectMeta: metav1.ObjectMeta{Namespace: here, Name: "semisync"}}); got.Spec.Abort {
		t.Error("the run was ended")
	}
}

// TestCtrlCInAPipe ends the plugin as it ends other programs, and not the run; what it runs came in a pipe as well.
func TestCtrlCInAPipe(t *testing.T) {
	t.Parallel()
	here := namespace(t)
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out, errs writer
	cmd := exec.Command(binary, "--kubeconfig", kubetest.Kubeconfig(t), "--cache-dir", t.TempDir(), "-n", here, "run", "-")
	cmd.Env = append(os.Environ(), asPlugin+"=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(semisync), &out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r := running{out: &out, err: &errs}
	r.awaits(t, "Waiting for the operator")
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != ExitInterrupted || !strings.HasPrefix(errs.String(), "\nExperiment semisync waits for an operator. Come back: kubectl replab watch semisync -n "+here) {
		t.Errorf("%v: %s%s", err, out.String(), errs.String())
	}
}
