package benchmark

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

func TestTheHalvesHaveAllProcessorsAndNoneInCommon(t *testing.T) {
	needTwoProcessors(t)
	var all unix.CPUSet
	check(t, unix.SchedGetaffinity(0, &all))
	instruments, system := Halves(t)
	for cpu := range 64 * len(all) {
		if inOne := instruments.IsSet(cpu) != system.IsSet(cpu); inOne != all.IsSet(cpu) {
			t.Errorf("processor %d: of the instruments %t, of the system %t", cpu, instruments.IsSet(cpu), system.IsSet(cpu))
		}
	}
	if n := instruments.Count(); n != all.Count()/2 {
		t.Errorf("the instruments have %d of %d processors", n, all.Count())
	}
}

func needTwoProcessors(t *testing.T) {
	if runtime.NumCPU() < 2 {
		t.Skip("one processor has no halves: the bench that needs them fails there, and says so")
	}
}

// pinnedTest is the environment variable that makes TestPin the process that is pinned.
const pinnedTest = "REPLAB_TEST_PINNED"

// TestPin pins a process that has many threads, and looks at each of them.
func TestPin(t *testing.T) {
	if os.Getenv(pinnedTest) != "" {
		beManyThreads()
		return
	}
	needTwoProcessors(t)
	cmd := exec.Command(os.Args[0], "-test.run=^TestPin$")
	cmd.Env = append(os.Environ(), pinnedTest+"=1")
	in, err := cmd.StdinPipe()
	check(t, err)
	out, err := cmd.StdoutPipe()
	check(t, err)
	check(t, cmd.Start())
	defer func() { check(t, errors.Join(in.Close(), cmd.Wait())) }()
	_, err = bufio.NewReader(out).ReadString('\n')
	check(t, err)

	_, system := Halves(t)
	Pin(t, cmd.Process.Pid, system)
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", cmd.Process.Pid))
	check(t, err)
	if len(threads) < manyThreads {
		t.Errorf("%d threads, want at least %d", len(threads), manyThreads)
	}
	for _, thread := range threads {
		tid, err := strconv.Atoi(filepath.Base(thread))
		check(t, err)
		var got unix.CPUSet
		check(t, unix.SchedGetaffinity(tid, &got))
		if got != system {
			t.Errorf("thread %d may use %d processors, want those of the system", tid, got.Count())
		}
	}
}

const manyThreads = 10

// beManyThreads says so, and ends with its standard input.
func beManyThreads() {
	var locked sync.WaitGroup
	for range manyThreads {
		locked.Add(1)
		go func() {
			runtime.LockOSThread()
			locked.Done()
			select {}
		}()
	}
	locked.Wait()
	fmt.Println("ready")
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// TestPinTree pins a shell and the one that it has started.
func TestPinTree(t *testing.T) {
	needTwoProcessors(t)
	cmd := exec.Command("sh", "-c", "sleep 600 & echo started; read -r line; kill $!")
	in, err := cmd.StdinPipe()
	check(t, err)
	out, err := cmd.StdoutPipe()
	check(t, err)
	check(t, cmd.Start())
	t.Cleanup(func() { _, _ = in.Close(), cmd.Wait() })
	_, err = bufio.NewReader(out).ReadString('\n')
	check(t, err)

	_, system := Halves(t)
	PinTree(t, cmd.Process.Pid, system)
	started := children(t, cmd.Process.Pid)
	if len(started) != 1 {
		t.Fatalf("the shell has started %v", started)
	}
	for _, pid := range append(started, cmd.Process.Pid) {
		var got unix.CPUSet
		check(t, unix.SchedGetaffinity(pid, &got))
		if got != system {
			t.Errorf("process %d may use %d processors, want those of the system", pid, got.Count())
		}
	}
}
