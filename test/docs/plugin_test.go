package docs_test

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/plugin"
	events "replab.dev/internal/plugin/follow"
	"replab.dev/test/experiment"
)

var pluginCall = regexp.MustCompile(`(?:kubectl |\./kubectl-)replab (.*)`)

// TestCommandsOfThePluginExist with their flags, in blocks and in sentences. Nothing is carried out.
func TestCommandsOfThePluginExist(t *testing.T) {
	root := plugin.Command("test", genericiooptions.IOStreams{In: strings.NewReader(""), Out: io.Discard, ErrOut: io.Discard})
	for _, page := range living(t) {
		for _, code := range codeOf(page) {
			for line := range strings.Lines(code) {
				call := pluginCall.FindStringSubmatch(line)
				if call == nil {
					continue
				}
				words := strings.Fields(call[1])
				if end := slices.IndexFunc(words, endsCommand); end >= 0 {
					words = words[:end]
				}
				cmd, arguments, err := root.Find(words)
				if err != nil || cmd == root {
					t.Errorf("%s: there is no such command: %s", page.Path, line)
					continue
				}
				if err := cmd.ParseFlags(arguments); err != nil {
					t.Errorf("%s: %s: %v", page.Path, strings.TrimSpace(line), err)
				}
			}
		}
	}
}

const pluginPage = "docs/reference/kubectl-replab.md"

// TestCommandsOfThePluginHaveTheirRow in its page, but those that are hidden.
func TestCommandsOfThePluginHaveTheirRow(t *testing.T) {
	root := plugin.Command("test", genericiooptions.IOStreams{In: strings.NewReader(""), Out: io.Discard, ErrOut: io.Discard})
	for _, page := range living(t) {
		if page.Path != pluginPage {
			continue
		}
		for _, cmd := range root.Commands() {
			row := func(cells []string) bool { return strings.Fields(cells[0] + " -")[0] == cmd.Name() }
			if !cmd.Hidden && !slices.ContainsFunc(page.Rows, row) {
				t.Errorf("%s: no row has the command %s", page.Path, cmd.Name())
			}
		}
		return
	}
	t.Errorf("there is no page %s", pluginPage)
}

// TestTheRunOfThePluginsPageIsOneOfItsTests: what the page shows is what is drawn.
func TestTheRunOfThePluginsPageIsOneOfItsTests(t *testing.T) {
	screens, err := os.ReadFile(filepath.Join(experiment.Root(), "internal", "plugin", "screen", "testdata", "screens.txt"))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, page := range living(t) {
		for _, block := range page.Blocks {
			if page.Path != pluginPage || block.Language != "text" {
				continue
			}
			found++
			if !strings.Contains(string(screens)+watchedSuite(), block.Text) {
				t.Errorf("%s shows a run that no test draws:\n%s", page.Path, block.Text)
			}
		}
	}
	if found == 0 {
		t.Errorf("%s shows no run", pluginPage)
	}
}

// watchedSuite is what the plugin prints of a suite whose first trial began, ended, and which then goes on.
func watchedSuite() string {
	now := time.Unix(1000, 0)
	s := &v1alpha1.ReplicationSuite{}
	s.Spec.Trials, s.Spec.Variants = 10, []v1alpha1.SuiteVariant{{Name: "async"}, {Name: "semisync"}}
	s.Status.Trials = &v1alpha1.TrialCounts{Total: 20}
	s.Status.Runs = []v1alpha1.TrialRun{{Name: "cost-of-safety-async-1", Variant: "async", Round: 1, Attempt: 1}}
	var seen events.SuiteEvents
	var text string
	look := func(age time.Duration) {
		for _, line := range seen.Next(s, nil) {
			text += events.Line(age, line)
		}
	}
	look(12 * time.Second)
	s.Status.Runs[0].Verdict = v1alpha1.VerdictPassed
	look(98 * time.Second)
	s.Status.Trials.Done = 3
	s.Status.Runs = append(s.Status.Runs, v1alpha1.TrialRun{Variant: "semisync", Round: 2, Attempt: 1})
	s.Status.EstimatedCompletionTime = &metav1.Time{Time: now.Add(24 * time.Minute)}
	return text + events.SuiteBar(s, now) + "\n"
}

// endsCommand tells whether the shell's part begins with a word.
func endsCommand(word string) bool {
	return strings.HasPrefix(word, "#") || slices.Contains([]string{"|", "||", "&&", ">", ";"}, word)
}
