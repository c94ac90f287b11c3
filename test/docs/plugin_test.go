package docs_test

import (
	"io"
	"slices"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"replab.dev/internal/plugin"
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

// endsCommand tells whether the shell's part begins with a word.
func endsCommand(word string) bool {
	return strings.HasPrefix(word, "#") || slices.Contains([]string{"|", "||", "&&", ">", ";"}, word)
}
