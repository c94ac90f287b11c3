package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/runs"
)

const (
	semisync = "../../experiments/semisync.yaml"
	single   = "../../experiments/single.yaml"
)

func subjectOf(t *testing.T, o options) subject {
	t.Helper()
	o.namespace = "here"
	s, err := readSubject(o)
	must(t, err)
	return s
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestACampaignCountsAllAndKeepsWhatTellsMost; the results of all are written down, and it goes on where it was stopped.
func TestACampaignCountsAllAndKeepsWhatTellsMost(t *testing.T) {
	took := func(n int) []string { return []string{fmt.Sprintf("It took %d ms.", n)} }
	c := newCluster(t, outcome{verdict: v1alpha1.VerdictPassed}, outcome{v1alpha1.VerdictInconclusive, 0, took(1)}, outcome{v1alpha1.VerdictFailed, 5, took(2)},
		outcome{v1alpha1.VerdictInconclusive, 0, took(3)}, outcome{v1alpha1.VerdictFailed, 0, took(4)}, outcome{v1alpha1.VerdictPassed, 7, nil})
	dir, o := t.TempDir(), options{file: semisync, count: 2, keep: 3}
	first, _, err := c.goOn(t.Context(), t, dir, o)
	must(t, err)
	if !strings.Contains(first, "Inconclusive") || !strings.Contains(first, "outage ms    700") || !strings.Contains(first, "It took 1 ms.") || strings.Count(first, "\n") != 2 {
		t.Errorf("the lines of two runs are\n%s", first)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	o.count = 6
	_, _, err = c.goOn(stopped, t, dir, o)
	must(t, err)
	_, b, err := c.goOn(t.Context(), t, dir, o)
	must(t, err)

	name := func(n int) string { return fmt.Sprintf("semisync-%s-%d", b.ID, n) }
	if got, want := strings.Join(c.created, " "), strings.Join([]string{name(1), name(2), name(3), name(4), name(5), name(6)}, " "); got != want {
		t.Errorf("made were %s, want %s", got, want)
	}
	// Run 6 passed since no goal speaks of losses, and lost writes all the same.
	if got, want := strings.Join(c.left(t), " "), strings.Join([]string{name(3), name(5), name(6)}, " "); got != want {
		t.Errorf("kept are %s, want those that failed or lost writes: %s", got, want)
	}
	for n := 1; n <= 6; n++ {
		for _, file := range []string{name(n) + ".json", name(n) + "-results.json"} {
			if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
				t.Error(err)
			}
		}
	}
	for _, n := range []int{3, 5, 6} { // 3 and 6 lost writes
		for _, before := range []string{"", "-before"} {
			_, err := os.Stat(filepath.Join(dir, name(n)+"-db-0-server"+before+".log"))
			if lost := n != 5; lost != (err == nil) {
				t.Errorf("the log of run %d%s: %v", n, before, err)
			}
		}
	}
	all := sum(b.runs)
	for _, want := range []string{
		"6 runs: 2 Failed 2 Inconclusive 2 Passed.", "lost in 2 of the 4 runs that could tell", "Outage: 700 to 700 ms, median 700, of 4 runs; left out are 2 whose figures cannot be relied on.",
		"   2 x Inconclusive: It took N ms. (" + name(2) + " " + name(4) + ")",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("it says\n%s\nwithout %q", all, want)
		}
	}
	if unsound(b.runs) {
		t.Error("runs that say why they are Inconclusive are taken for unsound")
	}
}

func TestWhatEndsACampaignWithAnExitCode(t *testing.T) {
	run := func(v v1alpha1.Verdict, reasons ...string) record {
		return record{Status: &v1alpha1.ReplicationExperimentStatus{Verdict: v, Reasons: reasons}}
	}
	for name, c := range map[string]struct {
		run  record
		want bool
	}{
		"passed":                        {run(v1alpha1.VerdictPassed), false},
		"failed":                        {run(v1alpha1.VerdictFailed), false},
		"inconclusive with a reason":    {run(v1alpha1.VerdictInconclusive, "so"), false},
		"inconclusive without a reason": {run(v1alpha1.VerdictInconclusive), true},
		"invalid":                       {run(v1alpha1.VerdictInvalid, "so"), true},
		"no end":                        {record{Error: "it took longer", Status: &v1alpha1.ReplicationExperimentStatus{}}, true},
	} {
		if got := unsound([]record{run(v1alpha1.VerdictPassed), c.run}); got != c.want {
			t.Errorf("%s: unsound %t, want %t", name, got, c.want)
		}
	}
}

// TestACampaignTakesUpItsOwnRunsAlone: not those of another one, nor what somebody made by hand.
func TestACampaignTakesUpItsOwnRunsAlone(t *testing.T) {
	for name, c := range map[string]struct {
		labels  map[string]string
		refused string
	}{
		"its own":                 {map[string]string{label: "7f3a"}, ""},
		"of another campaign":     {map[string]string{label: "0001"}, "of campaign 0001"},
		"of nobody's, made by me": {nil, "of no campaign"},
	} {
		t.Run(name, func(t *testing.T) {
			server := newCluster(t, outcome{verdict: v1alpha1.VerdictPassed})
			stands := &v1alpha1.ReplicationExperiment{ObjectMeta: metav1.ObjectMeta{Name: "semisync-7f3a-1", Namespace: "here", Labels: c.labels}}
			stands.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionComplete, Status: metav1.ConditionTrue}}
			stands.Status.Verdict = v1alpha1.VerdictFailed
			must(t, server.Client.Create(t.Context(), stands))
			x, err := subjectOf(t, options{file: semisync}).object(task{Number: 1}, draw{Rest: 1}, "7f3a")
			must(t, err)
			done, err := runner{cluster: server.Cluster, limit: time.Minute, id: "7f3a"}.make(t.Context(), x)
			if c.refused == "" {
				if err != nil || done.Status.Verdict != v1alpha1.VerdictFailed {
					t.Errorf("%+v, %v", done, err)
				}
				return
			}
			if err == nil || done != nil || !strings.Contains(err.Error(), c.refused) || !strings.Contains(err.Error(), "now Failed. Remove it (kubectl -n here delete repx semisync-7f3a-1)") {
				t.Errorf("%+v, %v; want a refusal that says what stands there", done, err)
			}
		})
	}
}

// TestARunThatTakesTooLongIsAborted, so that it is in no other's way, and what it measured is written down.
func TestARunThatTakesTooLongIsAborted(t *testing.T) {
	scheme := runtime.NewScheme()
	must(t, v1alpha1.AddToScheme(scheme))
	server := fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(interceptor.Funcs{
		Patch: func(ctx context.Context, server client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			if err := server.Patch(ctx, o, p, opts...); err != nil {
				return err
			}
			x := o.(*v1alpha1.ReplicationExperiment)
			if x.Spec.Abort {
				x.Status.Verdict = v1alpha1.VerdictInconclusive
				x.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionComplete, Status: metav1.ConditionTrue}}
			}
			return server.Update(ctx, x)
		},
	}).Build()
	x, err := subjectOf(t, options{file: semisync}).object(task{Number: 1}, draw{Rest: 1}, "7f3a")
	must(t, err)
	r := runner{cluster: runs.Cluster{Client: server, Look: time.Millisecond}, limit: 20 * time.Millisecond, id: "7f3a"}
	done, err := r.make(t.Context(), x)
	if err == nil || !strings.Contains(err.Error(), "was aborted") || done == nil || done.Status.Verdict != v1alpha1.VerdictInconclusive {
		t.Errorf("%+v, %v; want an aborted run, with what came of it", done, err)
	}
}
