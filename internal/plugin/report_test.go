package plugin

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/report/reporttest"
	"replab.dev/internal/report/suites"
	"replab.dev/internal/results"
	"replab.dev/test/kubetest"
)

// kept is a results document in the cluster, as the operator leaves it.
func kept(t *testing.T, namespace, name string) results.Results {
	t.Helper()
	r := reporttest.SemiSync(t)
	r.Experiment, r.Namespace = name, namespace
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: results.Name(name)}, Data: map[string]string{results.Key: string(text)}}
	if err := kubetest.Client(t).Create(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestReportInEachFormat(t *testing.T) {
	here := namespace(t)
	r := kept(t, here, "semisync")
	for format, want := range map[string]string{
		"html": "<!DOCTYPE html>", "csv": "experiment,namespace,verdict,figure,", "csv-timeline": "experiment,at,seconds,requests,", "markdown": "# semisync: Passed\n", "json": "{\n  \"experiment\": \"semisync\"",
	} {
		if got := command(t, here, "report", "semisync", "-o", format); got.code != ExitOK || !strings.HasPrefix(got.out, want) {
			t.Errorf("as %s: code %d, %s\n%.200s", format, got.code, got.err, got.out)
		}
	}
	file := filepath.Join(t.TempDir(), "run.json")
	if got := command(t, here, "report", "semisync", "-o", "json", "--file", file); got.code != ExitOK || got.out != "" || !strings.Contains(got.err, file) {
		t.Errorf("into a file: %+v", got)
	}
	again := command(t, "nobody", "report", file, "-o", "csv") // of a file, without the cluster
	if direct := command(t, here, "report", "semisync", "-o", "csv"); again.out != direct.out || again.out == "" {
		t.Errorf("the figures of a kept document are others: %+v", again.err)
	}
	if n := strings.Count(again.out, "\n"); n < 150 || r.Status.Verdict != v1alpha1.VerdictPassed {
		t.Errorf("%d figures of a run that %s", n, r.Status.Verdict)
	}
}

// jsonFile has a value as JSON.
func jsonFile(t *testing.T, of any) string {
	t.Helper()
	text, err := json.Marshal(of)
	if err != nil {
		t.Fatal(err)
	}
	return file(t, string(text))
}

// A terminal obeys characters of evil, and a browser turns its order round.
const (
	obeyed = "\x1b\a\r\u009b\u202e\u2066"
	evil   = "\x1b]0;owned\a\r\x1b[2J\u009b2J\u202e\u2066"
)

// TestTextsOfOthersAreShownAndNotObeyed: a document may be of anybody, and its figures are read in a terminal.
func TestTextsOfOthersAreShownAndNotObeyed(t *testing.T) {
	r := reporttest.SemiSync(t)
	reporttest.Say(&r, evil)
	r.Experiment, r.Status.Reasons = "a"+evil, []string{"b" + evil}
	file := jsonFile(t, r)
	s := &v1alpha1.ReplicationSuite{ObjectMeta: metav1.ObjectMeta{Name: "a" + evil}}
	s.Status.Reasons, s.Status.Notes, s.Status.Variants = []string{evil}, []string{evil}, []v1alpha1.VariantStatus{{Name: evil, Losses: &v1alpha1.LossesStatus{}}}
	suite := jsonFile(t, suites.Document{Suite: s})
	written := filepath.Join(t.TempDir(), "report")
	for _, args := range [][]string{
		{"report", file, "-o", "csv"},
		{"report", file, "-o", "csv-timeline"},
		{"report", file, "-o", "markdown"},
		{"report", file, "-o", "json"},
		{"report", file, "-o", "html"},
		{"report", suite, "-o", "csv"},
		{"report", suite, "-o", "markdown"},
		{"report", suite, "-o", "json"},
		{"report", suite, "-o", "html"},
		{"compare", file, file, "-o", "text"},
		{"compare", file, file, "-o", "csv"},
		{"compare", file, file, "-o", "markdown"},
		{"compare", file, file, "-o", "html"},
	} {
		got := command(t, "nobody", args...)
		if got.code != ExitOK || strings.ContainsAny(got.out, obeyed) || got.out == "" {
			t.Errorf("%v: %d, %s, %.200q", args, got.code, got.err, got.out)
		}
		if command(t, "nobody", append(args, "--file", written)...); read(t, written) != got.out {
			t.Errorf("%v: the file is not what a pipe gets", args)
		}
	}
	var again results.Results
	if got := command(t, "nobody", "report", file, "-o", "json"); json.Unmarshal([]byte(got.out), &again) != nil || !slices.Equal(again.Status.Reasons, r.Status.Reasons) {
		t.Errorf("the document is another one: %q", again.Status.Reasons)
	}
}

func TestReportThatCannotBeWritten(t *testing.T) {
	here := namespace(t)
	stored(t, here, "running", v1alpha1.ReplicationExperimentStatus{Phase: "Loading"})
	empty := filepath.Join(t.TempDir(), "empty.json")
	if err := os.WriteFile(empty, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"report", "nothing"}, "there is no experiment nothing"},
		{[]string{"report", "running"}, "has no results yet"},
		{[]string{"report", "x", "-o", "pdf"}, "use --output html, json, csv, csv-timeline, markdown"},
		{[]string{"report", empty}, "holds no results document"},
		{[]string{"compare", "one"}, "requires at least 2 arg"},
		{[]string{"compare", "running", "running"}, "has no results yet"},
		{[]string{"compare", "a", "b", "-o", "pdf"}, "use --output text, markdown, html, csv"},
	} {
		if got := command(t, here, c.args...); got.code != ExitNotRun || !strings.Contains(got.err, c.want) || got.out != "" {
			t.Errorf("%q: %+v, want %q", c.args, got, c.want)
		}
	}
}

func TestCompareInEachFormat(t *testing.T) {
	here := namespace(t)
	kept(t, here, "one")
	kept(t, here, "two")
	for format, want := range map[string]string{
		"text": "(+0%)", "markdown": "| verdict | Passed | Passed |", "html": "<title>one and two</title>", "csv": "\ntwo,",
	} {
		if got := command(t, here, "compare", "one", "two", "-o", format); got.code != ExitOK || !strings.Contains(got.out, want) {
			t.Errorf("as %s: code %d, %s\n%.500s", format, got.code, got.err, got.out)
		}
	}
}
