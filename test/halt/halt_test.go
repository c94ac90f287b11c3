package halt_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/prometheus/procfs"

	"replab.dev/test/halt"
)

func TestItReturnsWhenTheProcessHasStopped(t *testing.T) {
	busy := exec.CommandContext(t.Context(), "sh", "-c", "while :; do :; done")
	if err := busy.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = busy.Process.Kill(); _ = busy.Wait() })
	halt.Process(t, busy.Process.Pid)
	p, err := procfs.NewProc(busy.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if stat, err := p.Stat(); err != nil || !strings.HasPrefix(stat.State, "T") {
		t.Errorf("it is in state %q, %v", stat.State, err)
	}
}

// TestAProcessThatEndedHasStopped, though its parent has not taken note of it.
func TestAProcessThatEndedHasStopped(t *testing.T) {
	ended := exec.CommandContext(t.Context(), "true")
	if err := ended.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ended.Wait() })
	halt.Process(t, ended.Process.Pid)
}
