package preflight

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"replab.dev/hack/local/internal/standin"
)

func TestMissingFrom(t *testing.T) {
	const answer = "runc installed\ncontainerd config-files\n"
	got := missingFrom([]string{"runc", "containerd", "socat"}, answer)
	if !slices.Equal(got, []string{"containerd", "socat"}) {
		t.Errorf("got %q: one that was removed or was never known is missing", got)
	}
}

func TestPackagesAreInstalledOneAfterTheOther(t *testing.T) {
	bin := fakeDebian(t, "mkdir $0.lock || exit 100; sleep 0.1; echo socat installed >$0.done; rmdir $0.lock")
	var lanes sync.WaitGroup
	for range 3 {
		lanes.Go(func() {
			if err := packages([]string{"socat"}); err != nil {
				t.Error(err)
			}
		})
	}
	lanes.Wait()
	if _, err := os.Lstat(filepath.Join(bin, "policy-rc.d")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the policy is left behind: %v", err)
	}
}

func TestPolicyOfAnotherIsKept(t *testing.T) {
	for text, kept := range map[string]bool{policy: false, "#!/bin/sh\nexit 101\n": true} {
		bin := fakeDebian(t, "echo socat installed >$0.done")
		if err := os.WriteFile(PolicyFile, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := packages([]string{"socat"}); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(bin, "policy-rc.d")); (err == nil) != kept || kept && string(got) != text {
			t.Errorf("of %q there is %q: %v", text, got, err)
		}
	}
}

func TestInterruptedInstallationLeavesNoPolicy(t *testing.T) {
	if dir := os.Getenv("INSTALL_IN"); dir != "" { // the process that is interrupted
		PolicyFile = filepath.Join(dir, "policy-rc.d")
		_ = packages([]string{"socat"})
		time.Sleep(time.Minute) // as another lane that goes on
		return
	}
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		bin := fakeDebian(t, "trap 'touch $0.ended; exit 1' INT TERM; touch $0.started; while :; do sleep 0.02; done")
		cmd := exec.Command(os.Args[0], "-test.run=^TestInterruptedInstallationLeavesNoPolicy$")
		cmd.Env = append(os.Environ(), "INSTALL_IN="+bin)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		await(t, filepath.Join(bin, "apt-get.started"))
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		if err := cmd.Wait(); err == nil || time.Since(begin) > 30*time.Second {
			t.Errorf("%s does not end it: %v after %s", signal, err, time.Since(begin))
		}
		if _, err := os.Lstat(filepath.Join(bin, "policy-rc.d")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s leaves the policy behind: %v", signal, err)
		}
		await(t, filepath.Join(bin, "apt-get.ended"))
	}
}

func await(t *testing.T, path string) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if _, err := os.Lstat(path); err == nil {
			return
		}
	}
	t.Fatalf("there is no %s", path)
}

// fakeDebian has this test call a script in place of apt-get. It returns the folder of
// that and of the policy.
func fakeDebian(t *testing.T, aptGet string) (bin string) {
	t.Helper()
	bin = standin.Commands(t, map[string]string{"dpkg-query": "cat $(dirname $0)/apt-get.done 2>/dev/null; exit 1", "apt-get": aptGet})
	PolicyFile = filepath.Join(bin, "policy-rc.d")
	return bin
}
