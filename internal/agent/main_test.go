package agent

import (
	"fmt"
	"os"
	"testing"

	"replab.dev/internal/agent/agenttest"
	"replab.dev/internal/agent/part"
	"replab.dev/internal/engine/enginetest"
	"replab.dev/internal/starter"
	"replab.dev/test/netns"
)

// TestMain lets the test binary be the start wrapper, the agent or the copy.
func TestMain(m *testing.M) {
	if command := os.Getenv(agenttest.Command); command != "" {
		os.Exit(runCommand(command))
	}
	os.Exit(netns.Main(m))
}

func runCommand(name string) int {
	commands := map[string]func() error{
		"server": starter.Command(enginetest.Starters, nil).Execute, "agent": Command(enginetest.Locals, part.Families{}).Execute, "copy": CopyCommand().Execute,
		"peek": peekInto, "wait": wait,
	}
	if err := commands[name](); err != nil {
		fmt.Fprintln(os.Stderr, "replab:", err)
		return 1
	}
	return 0
}
