package postgrestest

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
)

// Process returns the server's first process, for signals and for what it uses.
func (s *Server) Process() *os.Process { return s.cmd.Process }

// Processes are the server's processes: the first one and those that it has started.
func (s *Server) Processes() []int {
	pid := s.cmd.Process.Pid
	return append([]int{pid}, children(pid)...)
}

// Kill ends all of the server's processes with SIGKILL.
func (s *Server) Kill() {
	_ = s.cmd.Process.Signal(syscall.SIGSTOP) // so that it starts no more
	others := children(s.cmd.Process.Pid)
	for _, pid := range others {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	_ = s.cmd.Process.Kill()
	<-s.ended
	for _, pid := range others {
		for runs(pid) {
			time.Sleep(time.Millisecond) // between two looks
		}
	}
}

// children are the processes that a process has started and that run.
func children(pid int) []int {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid)) // nothing of one that has ended
	var list []int
	for field := range strings.FieldsSeq(string(text)) {
		var child int
		if _, err := fmt.Sscan(field, &child); err == nil {
			list = append(list, child)
		}
	}
	return list
}

// runs tells whether a process is there that has not ended.
func runs(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, state, _ := strings.Cut(string(text), ") ")
	return err == nil && !strings.HasPrefix(state, "Z") && !strings.HasPrefix(state, "X")
}
