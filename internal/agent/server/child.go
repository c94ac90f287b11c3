package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"

	"replab.dev/internal/engine"
)

// runServer runs the server until it ends and returns its exit code. Every SIGTERM and SIGINT of the wrapper goes on to
// the server.
func (w *wrapper) runServer(ctx context.Context) (int, error) {
	s := w.engine.Start(w.cfg.Server, engine.StartParams{Ordinal: w.ordinal, Socket: w.cfg.Socket, WrapperPID: os.Getpid()})
	for _, file := range s.Remove {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, fmt.Errorf("remove what the last server left behind: %w", err)
		}
	}
	// ctx tells of the first signal only, and lets the second end the wrapper, and the server with it, at once.
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	defer signal.Stop(signals)
	if ctx.Err() != nil {
		return 0, nil
	}
	c, err := start(s.Argv, s.Env)
	if err != nil {
		return 0, fmt.Errorf("start the server: %w", err)
	}
	w.log.Info("the server is started", "pid", c.cmd.Process.Pid)
	told := ctx.Done()
	for {
		select {
		case <-told:
			w.log.Info("telling the server to stop")
			c.terminate()
			told = nil
		case <-signals:
			c.terminate()
		case code := <-c.ended:
			return code, nil
		}
	}
}

// child is a process that ends with its wrapper, whatever ends that.
type child struct {
	cmd   *exec.Cmd
	ended chan int // its exit code, once
}

// start runs argv with the wrapper's output and environment, and the given variables added.
func start(argv, env []string) (*child, error) {
	c := &child{cmd: exec.Command(argv[0], argv[1:]...), ended: make(chan int, 1)}
	c.cmd.Stdout, c.cmd.Stderr = os.Stdout, os.Stderr
	c.cmd.Env = append(os.Environ(), env...)
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	go func() {
		// The kernel sends Pdeathsig when the thread that forked ends, not the process: this one must stay.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := c.cmd.Start()
		started <- err
		if err == nil {
			_ = c.cmd.Wait() // what it says is in ProcessState
			c.ended <- exitCode(c.cmd.ProcessState.Sys().(syscall.WaitStatus))
		}
	}()
	return c, <-started
}

func (c *child) wait() int { return <-c.ended }

// terminate and kill do nothing to a child that has ended already.
func (c *child) terminate() { _ = c.cmd.Process.Signal(syscall.SIGTERM) }

func (c *child) kill() { _ = c.cmd.Process.Kill() }

// exitCode is the code as a shell would tell it.
func exitCode(s syscall.WaitStatus) int {
	if s.Signaled() {
		return 128 + int(s.Signal())
	}
	return s.ExitStatus()
}
