package agent

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"replab.dev/internal/agent/agenttest"
	"replab.dev/internal/agent/server"
)

// TestMain lets the test binary be the start wrapper, the agent or the copy, and runs the tests as root in a network
// namespace of their own, so that partitions cut nobody else.
func TestMain(m *testing.M) {
	switch command := os.Getenv("REPLAB_TEST_COMMAND"); {
	case command != "":
		os.Exit(runCommand(command))
	case os.Geteuid() == 0 && os.Getenv("REPLAB_TEST_NETNS") == "":
		os.Exit(runInNamespace())
	case os.Geteuid() == 0:
		if err := loopbackUp(); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

func runCommand(name string) int {
	commands := map[string]func() error{
		"server": server.Command(agenttest.Starters).Execute, "agent": Command(agenttest.Locals).Execute, "copy": CopyCommand().Execute,
		"peek": peekInto, "wait": wait,
	}
	if err := commands[name](); err != nil {
		fmt.Fprintln(os.Stderr, "replab:", err)
		return 1
	}
	return 0
}

func runInNamespace() int {
	runtime.LockOSThread() // the kernel sends Pdeathsig when the thread that forked ends
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
	cmd.Env = append(os.Environ(), "REPLAB_TEST_NETNS=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	if err != nil {
		panic(err)
	}
	return 0
}

func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo)
}
