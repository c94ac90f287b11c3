package starter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"replab.dev/internal/atomicfile"
	"replab.dev/internal/engine"
)

// stopMost is how long a server that stays out of its group may take to stop.
const stopMost = 30 * time.Second

// runServer runs the server until it ends and returns its exit code. Every SIGTERM and SIGINT of the wrapper goes on to
// the server.
func (n *Node) runServer(ctx context.Context, way Way, s engine.Start) (int, error) {
	if err := removeAll(s.Remove); err != nil {
		return 0, err
	}
	for _, f := range s.DataFiles {
		if err := atomicfile.WriteFile(filepath.Join(n.Config.DataDir, f.Name), []byte(f.Content), 0o600); err != nil {
			return 0, err
		}
	}
	// ctx tells of the first signal only, and lets the second end the wrapper, and the server with it, at once.
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	defer signal.Stop(signals)
	if ctx.Err() != nil {
		return 0, nil
	}
	var messages io.Writer
	var left <-chan struct{} // never, of a way that does not listen
	listener, listens := way.(Listener)
	if listens {
		messages, left = listener, listener.LeftOut()
	}
	c, err := start(s.Argv, s.Env, messages)
	if err != nil {
		return 0, fmt.Errorf("start the server: %w", err)
	}
	slog.Info("the server is started", "pid", c.cmd.Process.Pid)
	told, leftOut := ctx.Done(), false
	for {
		select {
		case <-told:
			slog.Info("stopping the server")
			c.terminate()
			told = nil
		case <-signals:
			c.terminate()
		case <-left:
			slog.Warn("restarting the server: by its log above it has left its group for good")
			leftOut = true
			c.terminate()
			defer time.AfterFunc(stopMost, c.kill).Stop()
		case code := <-c.ended:
			if listens {
				listener.Ended(leftOut)
			}
			return code, nil
		}
	}
}

func removeAll(files []string) error {
	for _, file := range files {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove what the last server left behind: %w", err)
		}
	}
	return nil
}

// Execute runs a command to its end. What it writes goes to log, or where it is nil, where the wrapper's own output goes. The command is
// killed when ctx ends.
func Execute(ctx context.Context, s engine.Start, log io.Writer) error {
	if err := removeAll(s.Remove); err != nil {
		return err
	}
	c, err := start(s.Argv, s.Env, log)
	if err != nil {
		return err
	}
	return c.waitOrKill(ctx)
}

// run runs a command with these streams to its end. The command is killed when ctx ends.
func run(ctx context.Context, argv []string, in io.Reader, out io.Writer) error {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, os.Stderr
	c, err := startCommand(cmd, nil)
	if err != nil {
		return err
	}
	return c.waitOrKill(ctx)
}

// child is a process that ends with its wrapper, whatever ends that.
type child struct {
	cmd   *exec.Cmd
	ended chan int // its exit code, once
}

// pipeDelay is how long a child's own children may keep its output open after it has ended.
const pipeDelay = time.Second

// start runs argv with the wrapper's environment, and the given variables added. What it writes goes to log, or where it is nil, where the
// wrapper's own output goes.
func start(argv, env []string, log io.Writer) (*child, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if log != nil {
		cmd.Stdout, cmd.Stderr, cmd.WaitDelay = log, log, pipeDelay
	}
	return startCommand(cmd, env)
}

// startCommand runs a command with the wrapper's environment, and the given variables added.
func startCommand(cmd *exec.Cmd, env []string) (*child, error) {
	c := &child{cmd: cmd, ended: make(chan int, 1)}
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
			_ = c.cmd.Wait() // what it says is in ProcessState, apart from a stream that broke off
			c.ended <- exitCode(c.cmd.ProcessState.Sys().(syscall.WaitStatus))
		}
	}()
	return c, <-started
}

func (c *child) wait() int { return <-c.ended }

// waitOrKill waits for its end, and kills it when ctx ends.
func (c *child) waitOrKill(ctx context.Context) error {
	stop := context.AfterFunc(ctx, c.kill)
	defer stop()
	if code := c.wait(); code != 0 {
		return errors.Join(ctx.Err(), fmt.Errorf("%s ended with exit code %d; its messages are in the log", c.cmd.Args[0], code))
	}
	return nil
}

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
