package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"replab.dev/test/experiment"
	"replab.dev/test/unit"
)

const twoJobs = `
on: {push: , workflow_dispatch: {inputs: {full: {type: boolean, default: false}}}}
jobs:
  before:
    runs-on: ubuntu-24.04
    outputs: {name: "${{ steps.none.outputs.name }}"}
    steps: [{run: "false"}]
  called: {uses: ./.github/workflows/other.yaml}
  job:
    needs: [before]
    runs-on: ubuntu-24.04
    container: debian:12
    env: {NAME: "${{ needs.before.outputs.name }}"}
    steps:
    - uses: actions/checkout@v1
    - id: tool
      uses: owner/tool/below@v2
      with: {some: thing}
    - id: one
      run: echo "value=$NAME" >>"$GITHUB_OUTPUT"
    - name: Write files
      env: {VALUE: "${{ steps.one.outputs.value }}", DIGEST: "${{ steps.tool.outputs.digest }}"}
      run: |
        mkdir "$RUNNER_TEMP/bin" && printf '#!/bin/sh\necho from the path\n' >"$RUNNER_TEMP/bin/ours" && chmod +x "$RUNNER_TEMP/bin/ours"
        echo "$RUNNER_TEMP/bin" >>"$GITHUB_PATH"
        echo "LATER=$VALUE and $DIGEST" >>"$GITHUB_ENV"
        echo "a summary" >>"$GITHUB_STEP_SUMMARY"
    - run: test -f runs/a.yaml && echo "later $LATER at $GITHUB_REF_NAME, $(ours)"
    - if: github.event_name == 'push' && inputs.full
      run: echo never
    - run: echo dear
    - uses: actions/checkout@v1
      with: {repository: owner/other}
    - name: Fails
      run: exit 3
    - if: failure()
      run: echo diagnosis
    - if: github.event_name == 'schedule'
      uses: owner/tool@v2
    - run: echo never
`

func TestJobIsPlayedAsFarAsItCanBe(t *testing.T) {
	p := &play{
		act: actBinary(t), repository: repository(t, twoJobs, ""), workflow: "test.yaml", job: "job", event: "push", ref: "refs/tags/v1.2.3", here: true,
		skip: regexp.MustCompile("^echo dear$"), outputs: map[string][]string{"before": {"name=value"}, "tool": {"digest=a=b"}},
	}
	var out bytes.Buffer
	if err := p.run(&out); err == nil {
		t.Errorf("no error although a step failed")
	}
	said, steps, _ := strings.Cut(out.String(), "=== steps\n")
	for _, want := range []string{"later value and a=b at v1.2.3, from the path\n", "a summary", "diagnosis\n"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not in what was said:\n%s", want, said)
		}
	}
	want := `played    1    actions/checkout (time)
left out  2    owner/tool/below (action owner/tool/below)
played    3    echo "value=$NAME" >>"$GITHUB_OUTPUT" (time)
played    4    Write files (time)
played    5    test -f runs/a.yaml && echo "later $LATER at $GITHUB_REF_NAME, $(ours)" (time)
skipped   6    echo never (its condition, or an earlier failure)
left out  7    echo dear (-skip)
left out  8    actions/checkout (action actions/checkout)
FAILED    9    Fails (time)
played    10   echo diagnosis (time)
skipped   11   owner/tool (its condition, or an earlier failure)
skipped   12   echo never (its condition, or an earlier failure)
`
	if diff := cmp.Diff(want, regexp.MustCompile(`\([\d.]+(m|µ)?s\)`).ReplaceAllString(steps, "(time)")); diff != "" {
		t.Errorf("steps (-want +got):\n%s\n%s", diff, said)
	}
}

func TestJobsThatCannotBePlayedAreRefused(t *testing.T) {
	for job, want := range map[string]string{
		"none":   "before, called, job",
		"called": "./.github/workflows/other.yaml: play a job of that file",
		"job":    "(debian:12). -here",
	} {
		p := &play{repository: repository(t, twoJobs, ""), workflow: "test.yaml", job: job}
		if err := p.run(io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error with %q", job, err, want)
		}
	}
}

func TestVariablesOfTheRunnerAreNotInherited(t *testing.T) {
	got := inherited([]string{"PATH=/bin", "GITHUB_OUTPUT=a", "RUNNER_TEMP=b", "ACTIONS_RUNTIME_TOKEN=c", "MAKEFLAGS=d"})
	if diff := cmp.Diff([]string{"PATH=/bin"}, got); diff != "" {
		t.Errorf("variables (-want +got):\n%s", diff)
	}
}

// repository has a workflow, an action, and files to run.
func repository(t *testing.T, workflow, action string) string {
	t.Helper()
	folder := t.TempDir()
	for file, content := range map[string]string{".github/workflows/test.yaml": workflow, "action.yaml": action, "runs/a.yaml": "", "runs/b.yaml": ""} {
		write(t, filepath.Join(folder, file), content, 0o644)
	}
	for _, args := range [][]string{{"init", "--quiet"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--message", "all"}} {
		if said, err := exec.Command("git", append([]string{"-C", folder}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, said)
		}
	}
	return folder
}

func put(file, content string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(content), 0o644)
}

func write(t *testing.T, file, content string, mode os.FileMode) {
	t.Helper()
	if err := put(file, content); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file, mode); err != nil {
		t.Fatal(err)
	}
}

// actBinary is REPLAB_ACT, what `make test` has built, or the one in PATH.
func actBinary(t *testing.T) string {
	t.Helper()
	unit.Leave(t)
	built, _ := filepath.Glob(filepath.Join(experiment.Root(), "bin", "act-*"))
	for _, path := range append([]string{os.Getenv("REPLAB_ACT")}, built...) {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	path, err := exec.LookPath("act")
	switch {
	case err == nil:
		return path
	case os.Getenv("REPLAB_REQUIRE_ACT") != "":
		t.Fatal("there is no act although REPLAB_REQUIRE_ACT is set: run `make test`, which builds it")
	}
	t.Skip("there is no act here: run `make test`, which builds it")
	return ""
}
