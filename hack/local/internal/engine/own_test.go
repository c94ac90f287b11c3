//go:build linux

package engine

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"replab.dev/hack/local/internal/layout"
	"replab.dev/hack/local/internal/preflight"
	"replab.dev/hack/local/internal/say"
)

func TestExplainNamesForwardingForOthers(t *testing.T) {
	var out bytes.Buffer
	say.Out = &out
	t.Cleanup(func() { say.Out = os.Stdout })
	explain(layout.Layout{Dir: t.TempDir()})
	for _, want := range []string{"forwards packets between its networks, also for other machines", "make cluster-down"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing from:\n%s", want, out.String())
		}
	}
}

// TestDownEndsAnEngineWhoseFolderIsGone, as when a clone is removed while its cluster is up.
func TestDownEndsAnEngineWhoseFolderIsGone(t *testing.T) {
	l := layout.Layout{Dir: t.TempDir()}
	server := exec.Command("sleep", "3602")
	server.Env = append(os.Environ(), "REPLAB_ENGINE_DIR="+l.Engine(), "REPLAB_DAEMON=dockerd")
	server.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Wait() }()
	t.Cleanup(func() { _ = server.Process.Kill() })
	if err := Down(l, false); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Error("the engine still runs")
	}
}

func TestDownAllowsServicesAgain(t *testing.T) {
	preflight.PolicyFile = filepath.Join(t.TempDir(), "policy-rc.d")
	t.Cleanup(func() { preflight.PolicyFile = "/usr/sbin/policy-rc.d" })
	// As an installation leaves it that was killed.
	text := "#!/bin/sh\n# replab: packages start no services while they are installed\nexit 101\n"
	if err := os.WriteFile(preflight.PolicyFile, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Down(layout.Layout{Dir: t.TempDir()}, false); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(preflight.PolicyFile); err == nil {
		t.Error("the policy is left behind")
	}
}
