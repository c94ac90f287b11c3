package ledger

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Children of this test binary, by the value of childEnv; their ledger is at pathEnv.
const (
	childEnv = "REPLAB_LEDGER_TEST_CHILD"
	pathEnv  = "REPLAB_LEDGER_TEST_PATH"
)

func TestMain(m *testing.M) {
	switch os.Getenv(childEnv) {
	case "write":
		writeUntilKilled()
	case "fill":
		fillUntilRefused()
	default:
		os.Exit(m.Run())
	}
}

func child(t testing.TB, role, path string) *exec.Cmd {
	exe, err := os.Executable()
	must(t, err)
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), childEnv+"="+role, pathEnv+"="+path)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd
}

const childWorkers = 4

// writeUntilKilled relays each outcome on stdout once it is recorded, as the recorder does to k6.
func writeUntilKilled() {
	w, err := Open(os.Getenv(pathEnv), time.Now())
	exitOn(err)
	for range childWorkers {
		go func() {
			for {
				id, err := w.Next()
				exitOn(err)
				o := Acknowledged + Outcome(id%3)
				exitOn(w.Record(id, o, time.Now()))
				_, err = fmt.Fprintf(os.Stdout, "%d %d\n", id, o) // one write: whole lines even at SIGKILL
				exitOn(err)
			}
		}()
	}
	select {}
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// TestKilledWriterForgetsNothingItRelayed kills a writing process at random instants, again and again on one ledger.
func TestKilledWriterForgetsNothingItRelayed(t *testing.T) {
	path := ledgerPath(t)
	relayed := map[uint64]Outcome{}
	const kills = 40
	for range kills {
		killAfter(t, child(t, "write", path), rand.IntN(12_000), relayed)
	}
	w, err := Open(path, time.Now()) // repairs a torn record
	must(t, err)
	if w.Restarts() != kills {
		t.Errorf("restarts %d, want %d", w.Restarts(), kills)
	}
	must(t, w.Close())

	s := loadFile(t, path)
	sets := map[Outcome]Bitmap{Acknowledged: s.Acknowledged, Rejected: s.Rejected, Indeterminate: s.Indeterminate}
	for id, o := range relayed {
		if !sets[o].Has(id) {
			t.Fatalf("outcome %d of write %d was relayed and is not in the ledger", o, id)
		}
	}
	recorded := s.Acknowledged.Count() + s.Rejected.Count()
	var relayedDefinite int64
	for _, o := range relayed {
		if o != Indeterminate {
			relayedDefinite++
		}
	}
	if extra := recorded - relayedDefinite; extra < 0 || extra > kills*childWorkers {
		t.Errorf("%d outcomes were recorded and not relayed, want at most one a worker and kill", extra)
	}
	if got := s.Indeterminate.Count(); got != s.Sent.Count()-recorded {
		t.Errorf("indeterminate %d, want every other write that was leased: %d", got, s.Sent.Count()-recorded)
	}
	t.Logf("%d kills, %d outcomes relayed, %d ids leased", kills, len(relayed), s.Sent.Count())
}

// killAfter kills the child once it has relayed so many outcomes, and notes every outcome that it did relay.
func killAfter(t *testing.T, cmd *exec.Cmd, lines int, relayed map[uint64]Outcome) {
	t.Helper()
	stdout, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	scanner := bufio.NewScanner(stdout)
	for n := 0; scanner.Scan(); n++ {
		var id uint64
		var o Outcome
		if _, err := fmt.Sscan(scanner.Text(), &id, &o); err != nil {
			t.Fatalf("the child relayed %q", scanner.Text())
		}
		if _, again := relayed[id]; again {
			t.Fatalf("write %d was handed out twice", id)
		}
		relayed[id] = o
		if n == lines {
			must(t, cmd.Process.Kill())
		}
	}
	if err := cmd.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Fatalf("the child ended by itself: %v", err)
	}
}

// fillUntilRefused writes under the limit of its file size or disk, and checks that the first failure is final.
func fillUntilRefused() {
	signal.Ignore(syscall.SIGXFSZ) // a write beyond the limit is then an error, a partial one first
	if os.Getenv("REPLAB_LEDGER_TEST_TMPFS") != "" {
		dir := strings.TrimSuffix(os.Getenv(pathEnv), "/ledger")
		exitOn(syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=8192"))
	} else {
		exitOn(syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 1000, Max: 1000}))
	}
	w, err := Open(os.Getenv(pathEnv), time.Now())
	exitOn(err)
	acknowledged := int64(0)
	for ; err == nil; acknowledged++ {
		var id uint64
		if id, err = w.Next(); err == nil {
			err = w.Record(id, Acknowledged, time.Now())
		}
	}
	fmt.Println(err)
	_, nextErr := w.Next()
	for _, again := range []error{err, nextErr, w.Record(1, Rejected, time.Now()), w.Close(), w.Close()} {
		if !errors.Is(again, ErrFailed) {
			exitOn(fmt.Errorf("after a failed write: %v, want ErrFailed", again))
		}
	}
	f, err := os.Open(os.Getenv(pathEnv))
	exitOn(err)
	s, err := Load(f)
	exitOn(err)
	if info, _ := f.Stat(); info.Size()%RecordBytes != 0 || s.Acknowledged.Count() != acknowledged-1 {
		exitOn(fmt.Errorf("%d bytes with %d acknowledged, want whole records and %d", info.Size(), s.Acknowledged.Count(), acknowledged-1))
	}
}

func TestAPartialWriteIsCutOffAndFailsTheWriterForGood(t *testing.T) {
	out, err := child(t, "fill", ledgerPath(t)).Output()
	must(t, err)
	if !strings.Contains(string(out), "file too large") {
		t.Errorf("the first error was %q", out)
	}
}

func TestAFullDiskFailsTheWriterForGood(t *testing.T) {
	cmd := child(t, "fill", ledgerPath(t))
	cmd.Env = append(cmd.Env, "REPLAB_LEDGER_TEST_TMPFS=1")
	cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS
	cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
	cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	out, err := cmd.Output()
	if errors.Is(err, syscall.EPERM) {
		t.Skip("this machine allows no user namespaces, so no small file system can be mounted")
	}
	must(t, err)
	if !strings.Contains(string(out), "no space left") || !strings.Contains(string(out), "more space") {
		t.Errorf("the first error was %q", out)
	}
}
