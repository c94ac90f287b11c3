package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"replab.dev/internal/plugin"
	"replab.dev/test/experiment"
)

// TestMain is the plugin of the release that the action installs, too.
func TestMain(m *testing.M) {
	if os.Getenv("PLUGIN") != "" {
		os.Exit(pluginStandIn(os.Args[1:]))
	}
	os.Exit(m.Run())
}

const usesTheAction = `
on: push
jobs:
  job:
    runs-on: ubuntu-24.04
    steps:
    - uses: actions/checkout@v1
    - uses: ./
      with:
        version: v1.2.3
        files: |
          runs/*.yaml
          other.yaml $(touch injected)
        retry-inconclusive: 2
    - if: always()
      run: echo "afterwards KUBECONFIG=${KUBECONFIG-} $(command -v kubectl-replab || echo and no plugin)"
`

// aName of a cluster: of the run, its attempt and the job, and of no other job. kind takes 50 characters.
var aName = regexp.MustCompile(`replab-\d+-\d+-job-[0-9a-f]{8}`)

// TestActionRunsFilesAndKeepsReports plays action.yaml. kind, Helm and kubectl are replaced, and so is the plugin, but for its flags.
func TestActionRunsFilesAndKeepsReports(t *testing.T) {
	act := actBinary(t)
	for _, code := range []string{"0", "1"} {
		t.Run("exit code "+code, func(t *testing.T) {
			kept := standIns(t, code)
			p := withAction(t, act, release(t, "v1.2.3").URL)
			var out bytes.Buffer
			if err := p.run(&out); (err != nil) != (code != "0") {
				t.Errorf("exit code %s: %v\n%s", code, err, &out)
			}
			if !strings.Contains(out.String(), "Summary - the summary") || strings.Contains(out.String(), "skipped") {
				t.Errorf("no summary, or skipped steps:\n%s", &out)
			}
			if !strings.Contains(out.String(), "afterwards KUBECONFIG=before and no plugin") {
				t.Errorf("later steps of the job have the action's environment:\n%s", &out)
			}
			calls, err := os.ReadFile(filepath.Join(kept, "calls"))
			names := aName.FindAllString(string(calls), -1)
			if len(names) != 2 || names[0] != names[1] || len(names[0]) > 50 {
				t.Fatalf("clusters %q in\n%s", names, calls)
			}
			calls = aName.ReplaceAll(calls, []byte("NAME"))
			want := `kind create cluster --name NAME --wait 120s --kubeconfig TEMP/replab/kubeconfig
helm install replab replab-1.2.3.tgz --namespace replab-system --create-namespace --wait --timeout 5m
run --junit TEMP/replab/reports/junit.xml --summary TEMP/replab/reports/summary.md --retry-inconclusive 2 -- runs/a.yaml runs/b.yaml other.yaml $(touch injected)
export experiment/semisync --namespace default --to TEMP/replab/reports/default/experiment-semisync
report TEMP/replab/reports/default/experiment-semisync --file TEMP/replab/reports/default/experiment-semisync.html
export suite/cost --namespace team --to TEMP/replab/reports/team/suite-cost
report TEMP/replab/reports/team/suite-cost --file TEMP/replab/reports/team/suite-cost.html
kind delete cluster --name NAME --kubeconfig TEMP/replab/kubeconfig
`
			if diff := cmp.Diff(want, string(calls)); err != nil || diff != "" {
				t.Errorf("calls, %v (-want +got):\n%s\n%s", err, diff, &out)
			}
			for _, report := range []string{"junit.xml", "summary.md", "operator.log", "default/experiment-semisync/results.json", "team/suite-cost.html"} {
				if _, err := os.Stat(filepath.Join(kept, "reports", report)); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestActionInstallsOnlyWhatItsSumsName: a file that was changed on the way is not run, and the cluster goes.
func TestActionInstallsOnlyWhatItsSumsName(t *testing.T) {
	kept := standIns(t, "0")
	server := release(t, "v1.2.3")
	inner := server.Config.Handler
	server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		inner.ServeHTTP(w, r)
		if strings.HasSuffix(r.URL.Path, ".tgz") {
			fmt.Fprint(w, "more")
		}
	})
	p := withAction(t, actBinary(t), server.URL)
	var out bytes.Buffer
	if err := p.run(&out); err == nil {
		t.Error("no error")
	}
	calls, _ := os.ReadFile(filepath.Join(kept, "calls"))
	if !strings.Contains(out.String(), "replab-1.2.3.tgz: FAILED") || strings.Contains(string(calls), "helm") || !strings.Contains(string(calls), "kind delete") {
		t.Errorf("calls:\n%s\n%s", calls, &out)
	}
}

// TestActionDeletesNoClusterOfAnotherJob: only its own, whose name no other job has, also where its creation fails half way.
func TestActionDeletesNoClusterOfAnotherJob(t *testing.T) {
	act := actBinary(t)
	kept := standIns(t, "0")
	t.Setenv("KIND_FAILS", "yes")
	for range 2 {
		var out bytes.Buffer
		if err := withAction(t, act, release(t, "v1.2.3").URL).run(&out); err == nil {
			t.Errorf("no error:\n%s", &out)
		}
	}
	calls, err := os.ReadFile(filepath.Join(kept, "calls"))
	names := aName.FindAllString(string(calls), -1)
	if err != nil || len(names) != 4 || names[0] != names[1] || names[2] != names[3] || names[0] == names[2] || strings.Count(string(calls), "kind delete") != 2 {
		t.Errorf("calls, %v:\n%s", err, calls)
	}
}

// withAction plays a job that uses the action, of a release that a server has.
func withAction(t *testing.T, act, server string) *play {
	t.Helper()
	action, err := os.ReadFile(filepath.Join(experiment.Root(), "action.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return &play{
		act: act, repository: repository(t, usesTheAction, string(action)), workflow: "test.yaml", job: "job", event: "push",
		env: []string{"GITHUB_SERVER_URL=" + server},
	}
}

// standIns puts kind, Helm and kubectl in front of the PATH. The folder that it returns gets their calls, and the reports once the cluster goes.
func standIns(t *testing.T, code string) (kept string) {
	t.Helper()
	kept = t.TempDir()
	bin := t.TempDir()
	noted := `#!/bin/bash
set -eu
note() { echo "$*" | sed "s|$RUNNER_TEMP|TEMP|g" >>"$KEPT/calls"; }
`
	write(t, filepath.Join(bin, "kind"), noted+`note kind "$@"; [ "$1" != create ] || [ -z "${KIND_FAILS-}" ] || exit 1; [ "$1" != delete ] || cp -r "$RUNNER_TEMP/replab/reports" "$KEPT"`, 0o755)
	write(t, filepath.Join(bin, "helm"), noted+`[ "$KUBECONFIG" = "$RUNNER_TEMP/replab/kubeconfig" ] && [ -s "$3" ]; note helm "$@"`, 0o755)
	write(t, filepath.Join(bin, "kubectl"), noted+`[ "$KUBECONFIG" = "$RUNNER_TEMP/replab/kubeconfig" ]; case "$1" in
replab) shift; note "$@"; exec kubectl-replab "$@" ;;
get) printf 'default ReplicationExperiment semisync\nteam ReplicationSuite cost\n' ;;
esac`, 0o755)
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	t.Setenv("KEPT", kept)
	t.Setenv("KUBECONFIG", "before")
	t.Setenv("CODE", code)
	return kept
}

// release serves the files of a release, whose plugin is this test's program.
func release(t *testing.T, version string) *httptest.Server {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/bash\nPLUGIN=1 exec " + program + ` "$@"`
	files := map[string][]byte{"replab-" + version[1:] + ".tgz": []byte("chart")}
	for _, architecture := range []string{"amd64", "arm64"} {
		files["kubectl-replab_"+version+"_linux_"+architecture+".tar.gz"] = archive(t, script)
	}
	var sums string
	for name, content := range files {
		sums += fmt.Sprintf("%x  %s\n", sha256.Sum256(content), name)
	}
	files["SHA256SUMS"] = []byte(sums)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, found := strings.CutPrefix(r.URL.Path, "/owner/replab/releases/download/"+version+"/")
		content := files[name]
		if !found || content == nil {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(content)
	}))
	t.Cleanup(server.Close)
	return server
}

func archive(t *testing.T, script string) []byte {
	t.Helper()
	var out bytes.Buffer
	packed := gzip.NewWriter(&out)
	w := tar.NewWriter(packed)
	if err := w.WriteHeader(&tar.Header{Name: "kubectl-replab", Mode: 0o755, Size: int64(len(script))}); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, script); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := packed.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// pluginStandIn takes what the plugin takes, and writes the files that it would.
func pluginStandIn(args []string) int {
	root := plugin.Command("test", genericiooptions.IOStreams{In: strings.NewReader(""), Out: io.Discard, ErrOut: io.Discard})
	cmd, rest, err := root.Find(args)
	if err == nil {
		err = cmd.ParseFlags(rest)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 64
	}
	named := func(flag string) string { return cmd.Flag(flag).Value.String() }
	code := 0
	switch cmd.Name() {
	case "run":
		err = put(named("junit"), "")
		if err == nil {
			err = put(named("summary"), "the summary\n")
		}
		_, _ = fmt.Sscan(os.Getenv("CODE"), &code)
	case "export":
		err = put(filepath.Join(named("to"), "results.json"), "")
	case "report":
		err = put(named("file"), "")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 64
	}
	return code
}
