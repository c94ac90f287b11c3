// Package rewind stands between a manager and the server's own program with which it takes back what a node has and the writer has not:
// before that, the agent reads the node, and the commits that will go are counted in its log.
package rewind

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/agent/notes"
	"replab.dev/internal/engine"
	"replab.dev/internal/process"
	"replab.dev/internal/starter"
	"replab.dev/internal/wire"
)

// Command returns `replab rewind --config FILE -- ARGUMENTS`: the arguments are those of the server's own program. It exits with that one's
// exit code, or 128 + the signal that ended it.
func Command(engines engine.Lookup[engine.Starter]) *cobra.Command {
	var arguments []string
	cmd := process.Command("rewind", "Read a node before its manager takes back what others have not", func(ctx context.Context, cfg wire.ServerConfig) error {
		code, err := run(ctx, cfg, engines, arguments, syscall.Exec)
		if err != nil {
			return fmt.Errorf("rewind: %w", err)
		}
		os.Exit(code)
		return nil
	})
	cmd.Args = cobra.ArbitraryArgs
	cmd.PreRunE = func(_ *cobra.Command, args []string) error {
		arguments = args
		return nil
	}
	return cmd
}

// run returns the program's exit code. It runs the program unless that is missing, since managers wait for it. If the node could not be read
// before, what it held is reported as unknown.
func run(ctx context.Context, cfg wire.ServerConfig, engines engine.Lookup[engine.Starter], arguments []string,
	become func(program string, argv, env []string) error,
) (int, error) {
	e, err := engines.For(cfg.Engine)
	if err != nil {
		return 0, err
	}
	managed, ok := e.(engine.Managed)
	if !ok {
		return 0, fmt.Errorf("engine %s knows no managers", cfg.Engine)
	}
	call, unread := managed.Rewind(arguments)
	program, err := exec.LookPath(call.Program)
	if err != nil {
		return 0, fmt.Errorf("the image has no %s: %w", call.Program, err)
	}
	if call.Asks {
		return 0, fmt.Errorf("start %s: %w", program, become(program, append([]string{program}, arguments...), os.Environ()))
	}
	r := rewinding{program: program, arguments: arguments, runDir: cfg.RunDir, mark: mark{cfg.DataDir, call.Control}}
	if unread != nil {
		slog.Warn("the arguments of pg_rewind are unknown: passing them on", "error", unread)
	}
	if unread != nil || !cfg.Inspect {
		return r.passOn(ctx, time.Now(), 0)
	}
	alone, ok := e.(engine.Alone)
	log, readable := e.(engine.Log)
	if !ok || !readable {
		return 0, fmt.Errorf("engine %s cannot read a server before it is rewound, and the configuration wants it inspected", cfg.Engine)
	}
	i := inspection{cfg: cfg, log: log, reader: starter.NewReader(cfg, alone), mark: r.mark}
	began := time.Now()
	i.inspect(ctx, began, call.Source)
	return r.passOn(ctx, began, time.Since(began))
}

// rewinding is one run of the program.
type rewinding struct {
	program   string
	arguments []string
	runDir    string
	mark      mark
}

// passOn runs the program, between two notes: one that it is under way, which stands as long as it has not come to a good end, and one for
// the agent of how it went.
func (r rewinding) passOn(ctx context.Context, began time.Time, inspected time.Duration) (int, error) {
	if ctx.Err() != nil { // it was not begun
		return stoppedCode, nil
	}
	if err := r.mark.put(); err != nil {
		slog.Warn("the start of the rewind could not be written", "error", err)
	}
	code, err := runProgram(ctx, r.program, r.arguments)
	if err != nil {
		return 0, err
	}
	if code == 0 {
		err = r.mark.remove()
	}
	note := wire.RewindNote{
		BeganAt: metav1.NewMicroTime(began), EndedAt: metav1.NowMicro(), InspectedMilliseconds: inspected.Milliseconds(), ExitCode: code,
	}
	if err := errors.Join(err, appendNote(r.runDir, note)); err != nil {
		slog.Warn("the result of the rewind could not be written", "error", err)
	}
	return code, nil
}

// stoppedCode is the exit code of a program that SIGTERM has ended.
const stoppedCode = 128 + int(syscall.SIGTERM)

// runProgram runs the program with what this process was given. SIGTERM goes on to it.
func runProgram(ctx context.Context, program string, arguments []string) (int, error) {
	runtime.LockOSThread() // Pdeathsig follows the thread that forks
	defer runtime.UnlockOSThread()
	cmd := exec.CommandContext(ctx, program, arguments...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	err := cmd.Run()
	if cmd.ProcessState == nil {
		return 0, fmt.Errorf("start %s: %w", program, err)
	}
	status := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return 128 + int(status.Signal()), nil
	}
	return status.ExitStatus(), nil
}

// mark is a note beside a data directory while the program changes it, which stays when that came to no good end: data that are part of one
// history and part of another are none that can be read. They have committed nothing since.
type mark struct {
	dataDir string
	control string // as in engine.RewindCall
}

func (m mark) file() notes.File[string] {
	return notes.File[string]{Path: filepath.Join(filepath.Dir(m.dataDir), "replab-rewinding")}
}

// data tells those in the directory from others that take their place, and from themselves once a server has run on them.
func (m mark) data() (string, error) {
	var stat syscall.Stat_t
	file := filepath.Join(m.dataDir, m.control)
	if err := syscall.Stat(file, &stat); err != nil {
		return "", fmt.Errorf("look at %s: %w", file, err)
	}
	return fmt.Sprintf("%d %d.%09d", stat.Ino, stat.Mtim.Sec, stat.Mtim.Nsec), nil
}

func (m mark) put() error {
	data, err := m.data()
	if err != nil {
		return err
	}
	return m.file().Save(data)
}

// stands tells whether it is of these data as they are.
func (m mark) stands() bool {
	noted, err := m.file().Load()
	if err != nil || noted == nil {
		return false
	}
	data, err := m.data()
	return err == nil && *noted == data
}

func (m mark) remove() error { return m.file().Remove() }

// appendNote adds a line for the agent.
func appendNote(runDir string, note wire.RewindNote) error {
	text, err := json.Marshal(note)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(runDir, wire.RewindsFile), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	return errors.Join(err, f.Close())
}
