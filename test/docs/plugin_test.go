package docs_test

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"replab.dev/internal/plugin"
	"replab.dev/test/experiment"
)

// TestCommandsOfThePluginExist with their flags, in blocks and in sentences. Nothing is carried out.
func TestCommandsOfThePluginExist(t *testing.T) {
	root := plugin.Command("test", genericiooptions.IOStreams{In: strings.NewReader(""), Out: io.Discard, ErrOut: io.Discard})
	for _, page := range living(t) {
		for _, code := range codeOf(page) {
			for line := range strings.Lines(code) {
				_, call, found := strings.Cut(line, "kubectl replab ")
				if !found {
					continue
				}
				words := strings.Fields(call)
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

const pluginPage = "docs/kubectl-replab.md"

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
			if !strings.Contains(string(screens), block.Text) {
				t.Errorf("%s shows a run that no test draws:\n%s", page.Path, block.Text)
			}
		}
	}
	if found == 0 {
		t.Errorf("%s shows no run", pluginPage)
	}
}

// endsCommand tells whether the shell's part begins with a word.
func endsCommand(word string) bool {
	return strings.HasPrefix(word, "#") || slices.Contains([]string{"|", "||", "&&", ">", ";"}, word)
}
