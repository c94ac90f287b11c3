package measure

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"replab.dev/internal/wire"
)

// fake is a proc file system with processes that have used so many hundredths of a second.
func fake(t *testing.T, used map[int]int) string {
	t.Helper()
	proc := t.TempDir()
	for pid, ticks := range used {
		dir := filepath.Join(proc, strconv.Itoa(pid))
		must(t, os.Mkdir(dir, 0o750))
		// man 5 proc_pid_stat: utime and stime are fields 14 and 15, threads 20, resident pages 24.
		stat := strconv.Itoa(pid) + " (k6) S 1 1 1 0 -1 0 0 0 0 0 " + strconv.Itoa(ticks) + " 5 0 0 20 0 7 0 100 4096 2 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
		must(t, os.WriteFile(filepath.Join(dir, "stat"), []byte(stat), 0o600))
		must(t, os.WriteFile(filepath.Join(dir, "io"), []byte("rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 512\nwrite_bytes: 1024\ncancelled_write_bytes: 0\n"), 0o600))
	}
	return proc
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestOthers leaves out itself, and the process that holds the pod's namespaces.
func TestOthers(t *testing.T) {
	got, err := others(fake(t, map[int]int{1: 9000, 7: 100, 9: 200, 12: 9000}), 12)
	must(t, err)
	page := int64(os.Getpagesize())
	if got.ServerPID != 7 || got.CPUMicroseconds != 3_100_000 || got.Threads != 14 || got.ResidentBytes != 4*page || got.ReadBytes != 1024 || got.WrittenBytes != 2048 {
		t.Errorf("%+v", got)
	}
	if _, err := others(fake(t, map[int]int{1: 1, 12: 1}), 12); !errors.Is(err, errNoProcess) {
		t.Errorf("of no process: %v", err)
	}
}

func TestWhatCannotBeReadIsNotZero(t *testing.T) {
	proc := fake(t, map[int]int{7: 100})
	io := filepath.Join(proc, "7", "io")
	must(t, os.Remove(io))
	must(t, os.Mkdir(io, 0o700))
	if got, err := others(proc, 12); err == nil || errors.Is(err, errNoProcess) {
		t.Errorf("of a process whose input and output cannot be read: %+v, %v", got, err)
	}
	must(t, os.Remove(io))
	if _, err := others(proc, 12); !errors.Is(err, errNoProcess) {
		t.Errorf("of a process that ended: %v", err)
	}
}

// TestTheOthersOfThisMachine asks as the recorder does.
func TestTheOthersOfThisMachine(t *testing.T) {
	w := httptest.NewRecorder()
	handle(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, wire.AgentPathResources, http.NoBody))
	if w.Code != http.StatusOK {
		t.Skipf("not allowed to read this machine's processes: %s", w.Body)
	}
	var got wire.Resources
	must(t, json.NewDecoder(w.Body).Decode(&got))
	if got.At.IsZero() || got.ServerPID == 0 || got.CPUMicroseconds == 0 {
		t.Errorf("%+v", got)
	}
}
