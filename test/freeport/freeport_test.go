package freeport

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"testing"
)

// other is set in the environment of the process that takes ports beside the test's.
const other = "REPLAB_TEST_FREEPORT"

// TestNoTwoProcessesHaveOnePort has two processes take all but a few of some ports.
func TestNoTwoProcessesHaveOnePort(t *testing.T) {
	const from, to, each = 11_000, 11_219, 100
	if os.Getenv(other) != "" {
		for range each {
			fmt.Println(within(t, from, to, 1))
		}
		_, _ = os.Stdin.Read(make([]byte, 1)) // keeps them until its input ends
		return
	}
	cmd := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), other+"=1")
	input, err := cmd.StdinPipe()
	must(t, err)
	output, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() { _ = input.Close(); _ = cmd.Wait() })
	taken := map[int]bool{}
	lines := bufio.NewScanner(output)
	for range each {
		lines.Scan()
		port, err := strconv.Atoi(lines.Text())
		must(t, err)
		taken[port] = true
	}
	for range each {
		port := within(t, from, to, 1)
		if taken[port] {
			t.Fatalf("port %d was given out twice, %d are taken", port, len(taken))
		}
		taken[port] = true
	}
	if len(taken) != 2*each {
		t.Errorf("%d ports were given out, want %d", len(taken), 2*each)
	}
}

func TestAPortIsGivenOutAgainOnceItsTestHasEnded(t *testing.T) {
	const from, to = 11_300, 11_300
	for range 2 {
		t.Run("test", func(t *testing.T) { within(t, from, to, 1) })
	}
}

func TestPortsInARowAreAllFree(t *testing.T) {
	const from, to = 11_400, 11_404
	l, err := net.Listen("tcp", "127.0.0.1:11402")
	must(t, err)
	defer l.Close()
	for range 2 {
		port := within(t, from, to, 2)
		if port != 11_400 && port != 11_403 {
			t.Errorf("%d and the next were given out", port)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
