package agent

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"testing"

	"replab.dev/internal/agent/proc"
	"replab.dev/internal/agent/watch"
	"replab.dev/internal/engine"
)

// TestAMembersServerIsNamedThoughItDoesNotAnswer, so that an agent knows it again.
func TestAMembersServerIsNamedThoughItDoesNotAnswer(t *testing.T) {
	argv := []string{"sleep", fmt.Sprintf("3600.1%d", os.Getpid())}
	finder := proc.NewFinder("sleep", func(found []string) bool { return slices.Equal(found, argv) })
	var names []string
	for range 2 {
		server := exec.Command(argv[0], argv[1:]...)
		must(t, server.Start())
		for range 2 { // agents
			l, err := newWatcher(finder, struct{ engine.Member }{}).Look()
			if !errors.Is(err, watch.ErrNotAsked) || l.Server == "" {
				t.Errorf("%+v, %v", l, err)
			}
			names = append(names, l.Server)
		}
		must(t, server.Process.Kill())
		_ = server.Wait()
		if l, err := newWatcher(finder, struct{ engine.Member }{}).Look(); !errors.Is(err, proc.ErrNone) || l.Server != "" {
			t.Errorf("once it is gone: %+v, %v", l, err)
		}
	}
	if names[0] != names[1] || names[1] == names[2] {
		t.Errorf("two servers, each seen twice, are named %v", names)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
