package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/runs"
	"replab.dev/test/kubetest"
)

func TestMain(m *testing.M) { os.Exit(kubetest.Main(m)) }

const experiment = `
apiVersion: replab.dev/v1alpha1
kind: ReplicationExperiment
metadata: {name: demo}
spec:
  topology: {type: Single}
  load: {stages: [{name: steady, durationSeconds: 5, users: 1}]}
`

func TestDemoReplacesAnOlderRunAndEndsWithTheVerdict(t *testing.T) {
	for _, c := range []struct {
		verdict v1alpha1.Verdict
		fails   bool
	}{{v1alpha1.VerdictPassed, false}, {v1alpha1.VerdictFailed, false}, {v1alpha1.VerdictInconclusive, true}} {
		t.Run(string(c.verdict), func(t *testing.T) {
			server := kubetest.Client(t)
			t.Setenv("KUBECONFIG", kubetest.Kubeconfig(t))
			file := filepath.Join(t.TempDir(), "demo.yaml")
			if err := os.WriteFile(file, []byte(experiment), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := client.IgnoreAlreadyExists(server.Create(t.Context(), parsed(t, file))); err != nil {
				t.Fatal(err)
			}
			parts := filepath.Join(t.TempDir(), "parts")
			if err := os.WriteFile(parts, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			t.Setenv("PARTS_FILE", parts)
			var out transcript
			go operate(t, stored(t).UID, c.verdict, &out)
			if err := run(t.Context(), &out, []string{file}); (err != nil) != c.fails {
				t.Errorf("error = %v, want one: %t\n%s", err, c.fails, out.String())
			}
			for _, want := range []string{"Removing the older experiment demo", "Deploying: 1 of 2 is ready\n", "Verdict    " + string(c.verdict)} {
				if !strings.Contains(out.String(), want) {
					t.Errorf("the output lacks %q:\n%s", want, out.String())
				}
			}
			if text, err := os.ReadFile(parts); err != nil || !strings.Contains(string(text), "60\t  Complete\n") {
				t.Errorf("parts are %q, %v; the run took a minute to complete", text, err)
			}
		})
	}
}

// operate stands in for the garbage collector, which lets the older run go, and for the operator.
func operate(t *testing.T, older types.UID, verdict v1alpha1.Verdict, seen *transcript) {
	server := kubetest.Client(t)
	for t.Context().Err() == nil {
		x := stored(t)
		switch {
		case x == nil:
		case x.UID == older && x.DeletionTimestamp != nil:
			_ = server.Patch(t.Context(), x, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))) // tried again
		case x.UID == older:
		case x.Status.Phase == "":
			x.Status.Phase = "Deploying"
			x.Status.Conditions = []metav1.Condition{condition(v1alpha1.ConditionDeployed, metav1.ConditionFalse, "1 of 2 is ready")}
			_ = server.Status().Update(t.Context(), x)
		case !strings.Contains(seen.String(), "Deploying"):
		case x.Status.Verdict == "":
			x.Status.Verdict = verdict
			complete := condition(v1alpha1.ConditionComplete, metav1.ConditionTrue, "")
			complete.LastTransitionTime = metav1.NewTime(x.CreationTimestamp.Add(time.Minute))
			x.Status.Conditions = append(x.Status.Conditions, complete)
			_ = server.Status().Update(t.Context(), x)
		default:
			return
		}
		time.Sleep(look / 10) // looks again, as an operator does
	}
}

// transcript is written by the demo and read by the operator.
type transcript struct {
	mutex sync.Mutex
	text  bytes.Buffer
}

func (s *transcript) Write(p []byte) (int, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.text.Write(p)
}

func (s *transcript) String() string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.text.String()
}

func condition(kind string, status metav1.ConditionStatus, message string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: status, Reason: "Test", Message: message, LastTransitionTime: metav1.Now()}
}

func parsed(t *testing.T, file string) client.Object {
	t.Helper()
	x, err := runs.Read(file, "default")
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// stored is the experiment on the server, nil when there is none.
func stored(t *testing.T) *v1alpha1.ReplicationExperiment {
	x := &v1alpha1.ReplicationExperiment{}
	if err := kubetest.Client(t).Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "demo"}, x); err != nil {
		return nil
	}
	return x
}
