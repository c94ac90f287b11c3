// Package netns runs the tests of a package in a network namespace of their own, so that they cut off and delay nobody else.
package netns

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// inside is set in the environment of what runs in the namespace.
const inside = "REPLAB_TEST_NETNS"

// Main runs the tests as root in a new namespace, on whose loopback device all of 127.0.0.0/8 and ::1 answer, and as anybody else where
// they are, where those that ask for the namespace are skipped. A package calls it from its TestMain: os.Exit(netns.Main(m)).
func Main(m *testing.M) int {
	switch {
	case os.Geteuid() != 0:
		return m.Run()
	case os.Getenv(inside) == "":
		return again()
	}
	if err := loopbackUp(); err != nil {
		fmt.Fprintln(os.Stderr, "set the loopback device of the tests' network namespace up:", err)
		return 1
	}
	return m.Run()
}

// Need skips a test that cannot do without the namespace, which root alone may make and change.
func Need(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("a network namespace needs root: run the tests as root")
	}
}

// again runs this process anew in a namespace.
func again() int {
	runtime.LockOSThread() // the kernel sends Pdeathsig when the thread that forked ends
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
	cmd.Env = append(os.Environ(), inside+"=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return exit.ExitCode()
	case err != nil:
		fmt.Fprintln(os.Stderr, "run the tests in a network namespace:", err)
		return 1
	}
	return 0
}

func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo)
}
