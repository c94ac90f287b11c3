package agent_test

import (
	"fmt"
	"os"
	"testing"

	sidecar "replab.dev/internal/agent"
	"replab.dev/internal/agent/agenttest"
	"replab.dev/internal/agent/part"
	"replab.dev/internal/engine/enginetest"
	"replab.dev/internal/engine/secrettest"
	"replab.dev/internal/starter"
	galera "replab.dev/internal/topology/galera/agent"
	groupstarter "replab.dev/internal/topology/galera/starter"
)

const token = secrettest.Token

// TestMain lets the test binary be the start wrapper and the agent of a member.
func TestMain(m *testing.M) {
	run := map[string]func() error{
		"server": starter.Command(enginetest.Starters, []starter.Family{groupstarter.Family}).Execute,
		"agent":  sidecar.Command(enginetest.Locals, part.Families{Parts: []part.Make{galera.NewPart}}).Execute,
	}[os.Getenv(agenttest.Command)]
	if run == nil {
		os.Exit(m.Run())
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "replab:", err)
		os.Exit(1)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
