package plugin

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"replab.dev/api/v1alpha1"
	"replab.dev/api/v1alpha1/validation"
	mariadb "replab.dev/internal/engine/mariadb/parameters"
	mysql "replab.dev/internal/engine/mysql/parameters"
	postgres "replab.dev/internal/engine/postgres/parameters"
	"replab.dev/test/experiment"
)

var engines = validation.Servers{v1alpha1.EngineMySQL: mysql.Rules{}, v1alpha1.EngineMariaDB: mariadb.Rules{}, v1alpha1.EnginePostgreSQL: postgres.Rules{}}

// wrong has an error of each kind: a misspelt field, and in a second document two of rules.
const wrong = `
apiVersion: replab.dev/v1alpha1
kind: ReplicationExperiment
metadata: {name: misspelt}
spec:
  topology: {type: Single, replica: 1}
  load: {stages: [{name: steady, durationSeconds: 30, users: 10}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: beside}
---
apiVersion: replab.dev/v1alpha1
kind: ReplicationExperiment
metadata: {name: senseless}
spec:
  topology: {type: Single}
  load: {stages: [{name: steady, durationSeconds: 30, users: 10}]}
  deadlineSeconds: 30
  faults: [{name: late, atSeconds: 30, target: Primary, action: Kill}]
`

// checkedHere runs check without a cluster.
func checkedHere(t *testing.T, args ...string) outcome {
	t.Helper()
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	var out, errs bytes.Buffer
	code := Execute(t.Context(), "v1", engines, append([]string{"check"}, args...), genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errs})
	return outcome{code, out.String(), errs.String()}
}

func TestCheckListsEveryError(t *testing.T) {
	for _, args := range [][]string{{"--local", file(t, wrong)}, {file(t, wrong)}} {
		got := checkedHere(t, args...)
		want := `misspelt: refused
  spec.topology.replica: unknown field. Correct its name or place, or remove it.
senseless: refused
  spec.faults[0].atSeconds: the load ends at 30 s. Start the fault earlier, or make a stage longer.
  spec.deadlineSeconds: the load alone takes 30 s, and deploying and the audit come on top. Raise it, or remove it.
`
		if got.code != ExitFailed || got.out != want || got.err != "" {
			t.Errorf("%v: %+v, want\n%s", args, got, want)
		}
	}
}

func TestCheckReadsStandardInput(t *testing.T) {
	in, err := os.Open(filepath.Join(experiment.Root(), "experiments", "semisync.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	before := os.Stdin
	os.Stdin = in
	defer func() { os.Stdin = before }()
	if got := checkedHere(t, "--local", "-"); got.code != ExitOK || got.out != "semisync: valid\n" || got.err != "" {
		t.Errorf("%+v", got)
	}
}

func TestCheckSaysThatNoClusterWasAsked(t *testing.T) {
	got := checkedHere(t, filepath.Join(experiment.Root(), "experiments", "single.yaml"))
	if got.code != ExitOK || !strings.Contains(got.out, "valid, but no cluster checked it") || got.err == "" {
		t.Errorf("%+v", got)
	}
}

func TestCheckAsksTheClusterInTheNamespaceOfTheContext(t *testing.T) {
	got := command(t, namespace(t), "check", filepath.Join(experiment.Root(), "experiments", "single.yaml"))
	if got.code != ExitOK || got.out != "single: valid\n" || got.err != "" {
		t.Errorf("%+v", got)
	}
}

func TestCheckMarksWhatTheClusterDidNotSee(t *testing.T) {
	got := command(t, "none-of-this-name", "check", filepath.Join(experiment.Root(), "experiments", "single.yaml"))
	if !strings.Contains(got.out, "no cluster checked it") || !strings.Contains(got.err, "not checked by the cluster") {
		t.Errorf("%+v", got)
	}
}

// TestCheckOfAFolder finds what is below it, and ignores other files, hidden ones and templates.
func TestCheckOfAFolder(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"a/good.yaml":         semisync,
		"b/wrong.yml":         strings.Replace(semisync, "nodes:", "node:", 1),
		"compose.yaml":        "services: [",
		"chart/template.yaml": "apiVersion: replab.dev/v1alpha1\n{{ if }}",
		"values.yaml":         "labels: {replab.dev/experiment: a}",
		".hidden.yaml":        "apiVersion: replab.dev/v1alpha1\n[",
		".git/hidden.yaml":    "apiVersion: replab.dev/v1alpha1\n[",
		"README.md":           "apiVersion: replab.dev/v1alpha1",
	} {
		name = filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got := checkedHere(t, "--local", folder)
	want := filepath.Join(folder, "b/wrong.yml") + ": semisync: refused\n" +
		"  spec.topology.node: unknown field. Correct its name or place, or remove it.\n" +
		filepath.Join(folder, "a/good.yaml") + ": semisync: valid\n"
	template := filepath.Join(folder, "chart/template.yaml") + ": not checked, since it is a template\n"
	if got.code != ExitFailed || got.out != want || got.err != template {
		t.Errorf("%+v, want\n%s%s", got, want, template)
	}
	if none := checkedHere(t, "--local", t.TempDir()); none.code != ExitNotRun || !strings.Contains(none.err, "no ReplicationExperiment or ReplicationSuite is below") {
		t.Errorf("of an empty folder: %+v", none)
	}
}

func TestCheckCannotReadWhatIsNotThere(t *testing.T) {
	for _, name := range []string{filepath.Join(t.TempDir(), "none.yaml"), file(t, "a: [")} {
		if got := checkedHere(t, "--local", name); got.code != ExitNotRun || got.err == "" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestCheckRefusesUnknownKindsAndVersions of our group, and run does, with and without a cluster.
func TestCheckRefusesUnknownKindsAndVersions(t *testing.T) {
	kind := strings.Replace(semisync, "kind: ReplicationExperiment", "kind: ReplicationExperimant", 1)
	version := strings.Replace(semisync, "v1alpha1", "v1beta9", 1)
	here := namespace(t)
	for text, want := range map[string]string{
		kind:    "kind: ReplicationExperimant is unknown. Use ReplicationExperiment or ReplicationSuite of replab.dev/v1alpha1.",
		version: "apiVersion: replab.dev/v1beta9 is unknown. Use replab.dev/v1alpha1.",
		strings.Replace(semisync, "/v1alpha1", "", 1): "apiVersion: replab.dev is unknown. Use replab.dev/v1alpha1.",
	} {
		if got := checkedHere(t, "--local", file(t, semisync+"\n---\n"+text)); got.code != ExitFailed || !strings.Contains(got.out, "semisync: refused\n  "+want+"\n") {
			t.Errorf("%+v, want %s", got, want)
		}
		if text != kind && text != version {
			continue // the API server says it in its own words
		}
		if got := command(t, here, "run", file(t, text)); got.code != ExitNotRun || got.err != "error: "+want+"\n" {
			t.Errorf("run: %+v, want %s", got, want)
		}
	}
}

// TestATemplateIsNoneForItsComments: braces in a comment are of no template.
func TestATemplateIsNoneForItsComments(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "a.yaml"), []byte("# from {{ .Values }}"+semisync+"  # {{ also }}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := checkedHere(t, "--local", folder); got.code != ExitOK || got.err != "" {
		t.Errorf("%+v", got)
	}
}

// TestNoTextOfAFileCommandsACIServer: GitHub obeys lines that begin with two colons, also behind blanks.
func TestNoTextOfAFileCommandsACIServer(t *testing.T) {
	const order = "\n::error::x"
	folder := t.TempDir()
	name := filepath.Join(folder, order+".yaml")
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte("# \n{{ if }}"+semisync), 0o600); err != nil {
		t.Fatal(err)
	}
	named := func(name string) string { return strings.Replace(semisync, "name: semisync", `name: "`+name+`"`, 1) }
	for label, args := range map[string][]string{
		"a template's name":       {folder},
		"a file's name":           {name},
		"a name that is missing":  {folder + order},
		"a name":                  {file(t, named(`a\n::error::x`))},
		"a name at the begin":     {file(t, named("::error::x"))},
		"a field":                 {file(t, strings.Replace(semisync, "spec:", "spec:\n  \"a\\n::error::x\": 1", 1))},
		"a field of the document": {file(t, semisync+"\"::error::x\": 1\n")},
		"a value":                 {file(t, strings.Replace(semisync, "type: SemiSync", `type: "a\n::error::x"`, 1))},
		"a kind":                  {file(t, strings.Replace(semisync, "kind: Replication", `kind: "a\n::error::x" #`, 1))},
	} {
		got := checkedHere(t, append([]string{"--local"}, args...)...)
		if !strings.Contains(got.out+got.err, "::error::x") {
			t.Errorf("%s: it is not told of: %+v", label, got)
		}
		for line := range strings.Lines(got.out + got.err) {
			if strings.HasPrefix(strings.TrimSpace(line), "::") {
				t.Errorf("%s: %q", label, line)
			}
		}
	}
	twice := file(t, named(`a\n::error::x`)+"\n---\n"+named(`a\n::error::x`))
	if got := command(t, "default", "run", twice); got.code != ExitNotRun || strings.Count(got.err, "\n") != 1 {
		t.Errorf("%+v", got)
	}
}
