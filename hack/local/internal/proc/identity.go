// Package proc starts daemons and finds and ends them again. A process
// is never known by its name: only by its number together with its start time,
// or by the mark put into its environment.
package proc

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Identity tells one process from every other that had or will have its number.
type Identity struct {
	PID int `json:"pid"`
	// StartTicks is when it started, in clock ticks since boot.
	StartTicks uint64 `json:"startTicks"`
	// Boot is the boot that the ticks count from.
	Boot string `json:"boot"`
}

var errGone = errors.New("no such process")

// Identify reads the identity of a process that runs now.
func Identify(pid int) (Identity, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return Identity{}, errGone
	}
	s, err := parseStat(string(stat))
	if err != nil {
		return Identity{}, err
	}
	if s.state == "Z" || s.state == "X" {
		return Identity{}, errGone
	}
	boot, err := BootID()
	if err != nil {
		return Identity{}, err
	}
	return Identity{PID: pid, StartTicks: s.startTicks, Boot: boot}, nil
}

// Alive says whether this very process still runs.
func (id Identity) Alive() bool {
	if id.PID <= 0 {
		return false
	}
	now, err := Identify(id.PID)
	return err == nil && now == id
}

// BootID names the running kernel's boot.
func BootID() (string, error) {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", fmt.Errorf("read the boot's id: %w", err)
	}
	return strings.TrimSpace(string(b)), nil
}

type stat struct {
	state      string
	session    int
	startTicks uint64
}

// parseStat reads the fields of /proc/PID/stat that matter here. They are counted
// from the last parenthesis, since a process may put anything into its name.
func parseStat(line string) (stat, error) {
	_, after, ok := cutLast(line, ")")
	fields := strings.Fields(after)
	if !ok || len(fields) < 20 {
		return stat{}, fmt.Errorf("cannot read process state %q", line)
	}
	session, err := strconv.Atoi(fields[3])
	if err != nil {
		return stat{}, fmt.Errorf("cannot read session in %q", line)
	}
	ticks, err := strconv.ParseUint(fields[19], 10, 64)
	if err != nil {
		return stat{}, fmt.Errorf("cannot read start time in %q", line)
	}
	return stat{state: fields[0], session: session, startTicks: ticks}, nil
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// all is the number of every process.
func all() []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var pids []int
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// environment is a process's environment as it was given at its start. It is nil
// for a process that is gone, is the kernel's, or is another user's, who could claim
// anything.
func environment(pid int) []string {
	info, err := os.Stat(filepath.Join("/proc", strconv.Itoa(pid)))
	if err != nil || info.Sys().(*syscall.Stat_t).Uid != uint32(os.Geteuid()) {
		return nil
	}
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
	if err != nil {
		return nil
	}
	var env []string
	for _, v := range bytes.Split(b, []byte{0}) {
		env = append(env, string(v))
	}
	return env
}

// leadsSession says whether the process leads its own session, as every daemon
// here does and none of the processes that a daemon starts.
func leadsSession(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	s, err := parseStat(string(b))
	return err == nil && s.session == pid
}
