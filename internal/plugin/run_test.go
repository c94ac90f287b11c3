package plugin

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/test/kubetest"
)

// file with an experiment, or with more.
func file(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "experiment.yaml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// operate stands in for the operator and the garbage collector: it takes an experiment without a status to a verdict once something was seen.
func operate(t *testing.T, namespace, name string, verdict v1alpha1.Verdict, seen func() bool) {
	server := kubetest.Client(t)
	go func() {
		for t.Context().Err() == nil {
			x := &v1alpha1.ReplicationExperiment{}
			if server.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, x) == nil {
				switch {
				case x.DeletionTimestamp != nil:
					_ = server.Patch(t.Context(), x, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))) // tried again
				case len(x.Status.Conditions) == 0:
					x.Status.Phase, x.Status.Conditions = "UnderLoad", reached(v1alpha1.ConditionAccepted, v1alpha1.ConditionSeeded, v1alpha1.ConditionLoadStarted)
					x.Status.Faults = []v1alpha1.FaultStatus{{
						Name: "crash", Fault: "crash", Pod: name + "-db-0", PodUID: "1", PlannedTime: metav1.NowMicro(), State: v1alpha1.FaultInjected, Confirmed: metav1.ConditionUnknown,
					}}
					_ = server.Status().Update(t.Context(), x)
				case x.Status.Verdict == "" && seen():
					end := ended(verdict)
					x.Status.StartTime, x.Status.Phase, x.Status.Verdict, x.Status.Conditions = end.StartTime, end.Phase, end.Verdict, end.Conditions
					_ = server.Status().Update(t.Context(), x)
				}
			}
			time.Sleep(quick / 5) // looks again, as an operator does
		}
	}()
}

// atOnce is seen by nobody.
func atOnce() bool { return true }

func TestEachVerdictHasItsExitCode(t *testing.T) {
	t.Parallel()
	for verdict, code := range map[v1alpha1.Verdict]int{
		v1alpha1.VerdictPassed: 0, v1alpha1.VerdictFailed: 1, v1alpha1.VerdictInconclusive: 2, v1alpha1.VerdictInvalid: 2,
	} {
		t.Run(string(verdict), func(t *testing.T) {
			here := namespace(t)
			t.Parallel()
			run := begin(t, here, "run", file(t, semisync))
			operate(t, here, "semisync", verdict, run.shows("fault crash: injected"))
			got := run.ends()
			if got.code != code || got.err != "" {
				t.Errorf("exit code %d, want %d: %s", got.code, code, got.err)
			}
			if repeat := strings.Contains(got.out, "\nNext      Repeat the run"); repeat != (code == ExitUnknown) {
				t.Errorf("whether it says to repeat the run: %v:\n%s", repeat, got.out)
			}
			for _, want := range []string{" s  UnderLoad\n", "fault crash: injected into semisync-db-0", "\nVerdict   " + string(verdict)} {
				if !strings.Contains(got.out, want) {
					t.Errorf("no %q in:\n%s", want, got.out)
				}
			}
			if again := command(t, here, "watch", "semisync"); again.code != code || !strings.Contains(again.out, "Verdict   "+string(verdict)) {
				t.Errorf("watched afterwards: %+v", again)
			}
			x := found(t, &v1alpha1.ReplicationExperiment{ObjectMeta: metav1.ObjectMeta{Namespace: here, Name: "semisync"}})
			if m := x.ManagedFields; len(m) == 0 || m[0].Manager != fieldManager || m[0].Operation != metav1.ManagedFieldsOperationApply {
				t.Errorf("managed fields %+v", m)
			}
		})
	}
}

func TestWhatCannotRun(t *testing.T) {
	t.Parallel()
	here := namespace(t)
	stored(t, here, "semisync", ended(v1alpha1.VerdictPassed))
	other := strings.Replace(semisync, "name: semisync", "name: other", 1)
	unknown := func(of string) string { return strings.Replace(of, "nodes:", "node:", 1) }
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"a field that nobody knows":                  {[]string{"run", file(t, unknown(other))}, "spec.topology.node: unknown field"},
		"a value that a rule refuses":                {[]string{"run", file(t, strings.Replace(other, "atSeconds: 20", "atSeconds: 70", 1))}, "atSeconds"},
		"one that has run":                           {[]string{"run", file(t, semisync)}, "has run already, and is Passed"},
		"one that has run, and the new one is wrong": {[]string{"run", "--replace", file(t, unknown(semisync))}, "spec.topology.node: unknown field"},
		"no experiment":                              {[]string{"run", file(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\n")}, "no ReplicationExperiment"},
		"no file":                                    {[]string{"run", "/nowhere.yaml"}, "/nowhere.yaml"},
		"the second of two is wrong":                 {[]string{"run", file(t, strings.Replace(semisync, "name: semisync", "name: first", 1)+"\n---\n"+unknown(other))}, "spec.topology.node: unknown field"},
		"two of one name":                            {[]string{"run", file(t, other+"\n---\n"+other)}, "experiment other is in the files twice"},
		"one that would be its own baseline":         {[]string{"run", "--replace", file(t, strings.Replace(semisync, "spec:", "spec:\n  baseline: {name: semisync}", 1))}, "spec.baseline.name: this is the experiment itself"},
		"one that is not there":                      {[]string{"watch", "nobody"}, "no experiment nobody"},
	} {
		t.Run(name, func(t *testing.T) {
			got := command(t, here, c.args...)
			if got.code != ExitNotRun || !strings.Contains(got.err, c.want) {
				t.Errorf("%+v, want exit code 3 and %q", got, c.want)
			}
		})
	}
	var all v1alpha1.ReplicationExperimentList
	if err := kubetest.Client(t).List(t.Context(), &all, client.InNamespace(here)); err != nil || len(all.Items) != 1 || all.Items[0].Status.Verdict != v1alpha1.VerdictPassed {
		t.Errorf("%d experiments are left, %v: none was to be made, nor removed", len(all.Items), err)
	}
}

func TestReplaceAndSeveralInTheirOrder(t *testing.T) {
	t.Parallel()
	here := namespace(t)
	older := stored(t, here, "semisync", ended(v1alpha1.VerdictPassed))
	operate(t, here, "semisync", v1alpha1.VerdictFailed, atOnce)
	operate(t, here, "second", v1alpha1.VerdictPassed, atOnce)
	got := command(t, here, "run", "--replace", file(t, semisync+"\n---\n"+strings.Replace(semisync, "name: semisync", "name: second", 1)))
	first, second := strings.Index(got.out, "Verdict   Failed"), strings.Index(got.out, "Verdict   Passed")
	if got.code != ExitFailed || first < 0 || second < first || !strings.Contains(got.out, "Removing the older experiment semisync") {
		t.Errorf("%+v", got)
	}
	now := found(t, &v1alpha1.ReplicationExperiment{ObjectMeta: metav1.ObjectMeta{Namespace: here, Name: "semisync"}})
	if now.UID == older.UID {
		t.Error("it is still the older one")
	}
}

// TestWhatElseIsInTheFiles is applied first, and what another manager has set is left to it unless that is asked for.
func TestWhatElseIsInTheFiles(t *testing.T) {
	t.Parallel()
	here := namespace(t)
	server := kubetest.Client(t)
	script := func(text string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: here, Name: "script"}, Data: map[string]string{"script.js": text}}
	}
	if err := server.Create(t.Context(), script("of another"), client.FieldOwner("another")); err != nil {
		t.Fatal(err)
	}
	files := file(t, semisync+"\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: script}\ndata: {script.js: ours}\n")
	if got := command(t, here, "run", files); got.code != ExitNotRun || !strings.Contains(got.err, "--force-conflicts takes the fields over") {
		t.Errorf("%+v", got)
	}
	var none v1alpha1.ReplicationExperimentList
	if err := server.List(t.Context(), &none, client.InNamespace(here)); err != nil || len(none.Items) != 0 {
		t.Errorf("%d experiments were made, %v", len(none.Items), err)
	}
	operate(t, here, "semisync", v1alpha1.VerdictPassed, atOnce)
	if got := command(t, here, "run", "--force-conflicts", files); got.code != ExitOK {
		t.Errorf("%+v", got)
	}
	now := script("")
	if err := server.Get(t.Context(), client.ObjectKeyFromObject(now), now); err != nil || now.Data["script.js"] != "ours" {
		t.Errorf("the script is %q, %v", now.Data["script.js"], err)
	}
}

// TestANamespaceThatTheFilesMake is not there when the experiment in it is tried.
func TestANamespaceThatTheFilesMake(t *testing.T) {
	t.Parallel()
	here := "made-" + namespace(t)
	in := strings.Replace(semisync, "name: semisync", "name: semisync, namespace: "+here, 1)
	operate(t, here, "semisync", v1alpha1.VerdictPassed, atOnce)
	both := in + "\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: script, namespace: " + here + "}\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: " + here + "}\n"
	if got := command(t, here, "run", file(t, both)); got.code != ExitOK {
		t.Errorf("%+v", got)
	}
	if got := command(t, "nowhere", "run", file(t, strings.ReplaceAll(in, here, "nowhere"))); got.code != ExitNotRun || !strings.Contains(got.err, `namespaces "nowhere" not found`) {
		t.Errorf("of a namespace that nobody makes: %+v", got)
	}
}

// TestOfSeveralTheWorstCounts, whichever it is.
func TestOfSeveralTheWorstCounts(t *testing.T) {
	t.Parallel()
	here := namespace(t)
	var all []string
	for i, verdict := range []v1alpha1.Verdict{v1alpha1.VerdictPassed, v1alpha1.VerdictFailed, v1alpha1.VerdictInconclusive} {
		name := []string{"first", "second", "third"}[i]
		all = append(all, strings.Replace(semisync, "name: semisync", "name: "+name, 1))
		operate(t, here, name, verdict, atOnce)
	}
	if got := command(t, here, "run", file(t, strings.Join(all, "\n---\n"))); got.code != ExitFailed || strings.Count(got.out, "\nVerdict   ") != 3 {
		t.Errorf("%+v", got)
	}
}

// TestReplaceAwaitsOneThatIsBeingRemoved: somebody has deleted it, and its objects are not gone.
func TestReplaceAwaitsOneThatIsBeingRemoved(t *testing.T) {
	t.Parallel()
	here := namespace(t)
	older := stored(t, here, "semisync", seeding())
	hold := []byte(`{"metadata":{"finalizers":["test.replab.dev/held"]}}`)
	if err := kubetest.Client(t).Patch(t.Context(), older, client.RawPatch(types.MergePatchType, hold)); err != nil {
		t.Fatal(err)
	}
	if err := kubetest.Client(t).Delete(t.Context(), older); err != nil {
		t.Fatal(err)
	}
	run := begin(t, here, "run", "--replace", file(t, semisync))
	run.awaits(t, "Removing the older experiment")
	operate(t, here, "semisync", v1alpha1.VerdictPassed, atOnce)
	if got := run.ends(); got.code != ExitOK || found(t, &v1alpha1.ReplicationExperiment{ObjectMeta: metav1.ObjectMeta{Namespace: here, Name: "semisync"}}).UID == older.UID {
		t.Errorf("%+v", got)
	}
}

func TestWhoLeavesLeavesTheRunGoing(t *testing.T) {
	t.Parallel()
	here := namespace(t)
	stored(t, here, "semisync", v1alpha1.ReplicationExperimentStatus{Phase: "Seeding"})
	run := begin(t, here, "run", file(t, semisync))
	run.awaits(t, "Seeding")
	run.leave()
	if got := run.ends(); got.code != ExitInterrupted || !strings.Contains(got.err, "kubectl replab watch semisync -n "+here) || !strings.Contains(got.out, "is under way already") {
		t.Errorf("%+v", got)
	}
	if x := found(t, &v1alpha1.ReplicationExperiment{ObjectMeta: metav1.ObjectMeta{Namespace: here, Name: "semisync"}}); x.Spec.Abort || x.DeletionTimestamp != nil {
		t.Error("the run was ended")
	}
}

func TestOneThatIsDeletedIsNotRun(t *testing.T) {
	t.Parallel()
	here := namespace(t)
	x := stored(t, here, "semisync", v1alpha1.ReplicationExperimentStatus{Phase: "Seeding"})
	run := begin(t, here, "watch", "semisync")
	run.awaits(t, "Seeding")
	if err := kubetest.Client(t).Delete(t.Context(), x); err != nil {
		t.Fatal(err)
	}
	if got := run.ends(); got.code != ExitNotRun || !strings.Contains(got.err, "was deleted before its verdict") {
		t.Errorf("%+v", got)
	}
}
