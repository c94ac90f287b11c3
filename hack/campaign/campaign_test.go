package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"replab.dev/api/v1alpha1"
)

const semisync = "../../experiments/semisync.yaml"

func experiment(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	x, err := read(semisync, "here")
	must(t, err)
	return x
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// cluster completes each experiment as soon as it is created, with the verdict and the reason of its turn.
func cluster(t *testing.T, created *[]string, verdicts ...v1alpha1.Verdict) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	must(t, v1alpha1.AddToScheme(scheme))
	must(t, corev1.AddToScheme(scheme))
	return fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, _ ...client.CreateOption) error {
			if _, ok := o.(*unstructured.Unstructured); !ok {
				return c.Create(ctx, o)
			}
			turn := len(*created)
			*created = append(*created, o.GetName())
			x := &v1alpha1.ReplicationExperiment{ObjectMeta: metav1.ObjectMeta{Name: o.GetName(), Namespace: o.GetNamespace()}}
			x.Spec.Keep = v1alpha1.KeepPolicy(text2(o.(*unstructured.Unstructured), "spec", "keep"))
			v := verdicts[turn%len(verdicts)]
			x.Status = v1alpha1.ReplicationExperimentStatus{
				Verdict: v, Reasons: []string{fmt.Sprintf("It took %d ms.", turn)}, Results: o.GetName() + "-results", Writes: &v1alpha1.WritesStatus{Lost: ptr.To(int64(turn % 2))},
				Conditions: []metav1.Condition{{Type: v1alpha1.ConditionComplete, Status: metav1.ConditionTrue}},
			}
			results := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: x.Status.Results, Namespace: o.GetNamespace()}, Data: map[string]string{"results.json": "{}"}}
			must(t, c.Create(ctx, results))
			return c.Create(ctx, x)
		},
	}).Build()
}

func text2(o *unstructured.Unstructured, fields ...string) string {
	s, _, _ := unstructured.NestedString(o.Object, fields...)
	return s
}

// TestACampaignKeepsWhatDidNotPass and has the others go; it counts all, and goes on where it was stopped.
func TestACampaignKeepsWhatDidNotPass(t *testing.T) {
	var created []string
	c := cluster(t, &created, v1alpha1.VerdictPassed, v1alpha1.VerdictFailed, v1alpha1.VerdictInconclusive)
	dir := t.TempDir()
	goOn := func(ctx context.Context, count int) string {
		b, err := openBook(dir, draw{})
		must(t, err)
		defer b.close()
		var out bytes.Buffer
		must(t, carryOut(ctx, &out, runner{cluster: c, limit: time.Minute}, b, experiment(t), options{count: count}))
		return out.String() + sum(b.runs)
	}
	goOn(t.Context(), 2)
	stopped, stop := context.WithCancel(t.Context())
	stop()
	goOn(stopped, 6)
	all := goOn(t.Context(), 6)
	if want := "semisync-1 semisync-2 semisync-3 semisync-4 semisync-5 semisync-6"; strings.Join(created, " ") != want {
		t.Errorf("made were %v, want %s", created, want)
	}
	var left v1alpha1.ReplicationExperimentList
	must(t, c.List(t.Context(), &left))
	if len(left.Items) != 4 {
		t.Errorf("%d experiments are kept, want the 4 that did not pass", len(left.Items))
	}
	for _, x := range left.Items {
		if x.Spec.Keep != v1alpha1.KeepOnFailure || x.Status.Verdict == v1alpha1.VerdictPassed {
			t.Errorf("%s, %s, is kept with keep %s", x.Name, x.Status.Verdict, x.Spec.Keep)
		}
		for _, file := range []string{x.Name + ".json", x.Name + "-results.json"} {
			if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
				t.Error(err)
			}
		}
	}
	for _, want := range []string{
		"6 runs: 2 Failed 2 Inconclusive 2 Passed.", "lost in 3 of the 6 runs that could tell", "   2 x Failed: It took N ms. (runs [2 5])", "   2 x Inconclusive: It took N ms. (runs [3 6])",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("it says\n%s\nwithout %q", all, want)
		}
	}
	lines, err := os.ReadFile(filepath.Join(dir, "runs.jsonl"))
	must(t, err)
	var last record
	must(t, json.Unmarshal(bytes.Split(lines, []byte("\n"))[5], &last))
	if last.Number != 6 || last.Name != "semisync-6" || last.Status == nil || *last.Status.Writes.Lost != 1 {
		t.Errorf("the last line is %+v", last)
	}
}

// TestARunThatWasNotWrittenDownWholeIsMadeAgain.
func TestARunThatWasNotWrittenDownWholeIsMadeAgain(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "runs.jsonl"), []byte("{\"number\":1,\"name\":\"a\"}\n{\"number\":2,\"na"), 0o644))
	b, err := openBook(dir, draw{})
	must(t, err)
	must(t, b.add(record{Number: 2, Name: "b"}))
	b.close()
	b, err = openBook(dir, draw{})
	must(t, err)
	defer b.close()
	if len(b.runs) != 2 || b.runs[1].Name != "b" {
		t.Errorf("runs are %+v", b.runs)
	}
	if seed := seedOf(dir); seed <= 0 {
		t.Errorf("seed by chance %d", seed)
	}
	drawn := t.TempDir()
	if b, err := openBook(drawn, draw{Actions: []string{"Kill"}, Seed: 9}); err != nil || seedOf(drawn) != 9 {
		t.Errorf("%v, seed %d, want 9", err, seedOf(drawn))
	} else {
		b.close()
	}
	if _, err := openBook(dir, draw{Actions: []string{"Kill"}, Members: []int{1}, Faults: 1, Seed: 7}); err == nil {
		t.Error("runs that were drawn otherwise are counted together")
	}
}

// TestDrawnFaults depend on the seed and the number of the run, hit each node once at a moment, and fit into the load.
func TestDrawnFaults(t *testing.T) {
	var d draw
	must(t, d.setAll("Kill,Pause,Partition", "1,2", 1, 7))
	drawn := func(number int) []any {
		x := experiment(t)
		must(t, d.into(x, number))
		faults, _, err := unstructured.NestedSlice(x.Object, "spec", "faults")
		must(t, err)
		return faults
	}
	seen := map[string]bool{}
	for number := 1; number <= 60; number++ {
		faults := drawn(number)
		if again := drawn(number); fmt.Sprint(again) != fmt.Sprint(faults) {
			t.Fatalf("run %d drew %v, then %v", number, faults, again)
		}
		nodes := map[any]bool{}
		for _, each := range faults {
			f := each.(map[string]any)
			at, hold, node := f["atSeconds"].(int64), f["holdSeconds"].(int64), f["node"].(int64)
			if nodes[node] || node < 0 || node > 2 || hold < 1 || at < firstAt || at+hold+apart > 50 || (f["partitionFrom"] != nil) != (f["action"] == "Partition") {
				t.Errorf("run %d drew %v", number, faults)
			}
			nodes[node] = true
			seen[fmt.Sprint(f["action"], len(faults))] = true
		}
	}
	if len(seen) != 6 {
		t.Errorf("of 3 actions on 1 or 2 nodes only %v were drawn", seen)
	}
	for _, c := range [][2]string{{"Kill,Other", "1"}, {"Kill", "0"}, {"Kill", "x"}} {
		if err := new(draw).set(c[0], c[1]); err == nil {
			t.Errorf("%v is accepted", c)
		}
	}
	must(t, d.setAll("Kill", "1", 4, 7))
	if err := d.into(experiment(t), 1); err == nil {
		t.Error("four faults fit into a load of 50 s")
	}
	var none draw
	must(t, none.set("", "1"))
	x := experiment(t)
	before := fmt.Sprint(x.Object)
	if must(t, none.into(x, 1)); fmt.Sprint(x.Object) != before {
		t.Error("without -faults those of the experiment are changed")
	}
}

func (d *draw) setAll(actions, members string, faults int, seed int64) error {
	*d = draw{Faults: faults, Seed: seed}
	return d.set(actions, members)
}

func TestNamesOfRunsFit(t *testing.T) {
	x := experiment(t)
	x.SetName(strings.Repeat("a", 37) + "-bc")
	if got := named(x, 12).GetName(); len(got) > maxName || got != strings.Repeat("a", 37)+"-12" {
		t.Errorf("name %q", got)
	}
}
