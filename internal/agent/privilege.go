package agent

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
)

// closeProcess keeps other processes of the agent's user, the server and what else its image runs, out of the agent: its memory,
// its environment, its files and its root folder below /proc, and ptrace. They can still send it signals.
func closeProcess() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("close the agent's process to others of its user: %w", err)
	}
	return nil
}

// becomeUser starts the process anew as the given user (and its group, if the group is root's), with no capability but
// NET_ADMIN, and that only if it was given. Kubernetes gives an added capability to root alone, while the agent must be
// the server's user, who alone may signal it and read its figures. It returns only on an error. The new process is to call closeProcess again: executing a
// binary opens it.
func becomeUser(user int) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("go on as user %d: %w", user, err)
	}
	// User and capabilities belong to a thread; this one, changed, becomes the whole process when it executes the binary.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := changeThread(user); err != nil {
		return fmt.Errorf("go on as user %d (the container must start as root with SETUID and SETGID): %w", user, err)
	}
	return fmt.Errorf("go on as user %d: %w", user, syscall.Exec(self, os.Args, os.Environ()))
}

func changeThread(user int) error {
	if err := unix.Prctl(unix.PR_SET_KEEPCAPS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("keep capabilities: %w", err)
	}
	id := uintptr(user)
	if os.Getegid() == 0 {
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESGID, id, id, id); errno != 0 {
			return fmt.Errorf("change group: %w", errno)
		}
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, id, id, id); errno != 0 {
		return fmt.Errorf("change user: %w", errno)
	}
	return keepNetAdmin()
}

// keepNetAdmin makes NET_ADMIN, if the thread is permitted it, ambient, so that it outlives the execution of a binary,
// and gives up every other capability.
func keepNetAdmin() error {
	const netAdmin = 1 << unix.CAP_NET_ADMIN
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return fmt.Errorf("read capabilities: %w", err)
	}
	permitted := data[0].Permitted & netAdmin
	data = [2]unix.CapUserData{{Effective: permitted, Permitted: permitted, Inheritable: permitted}}
	if err := unix.Capset(&header, &data[0]); err != nil {
		return fmt.Errorf("give up capabilities: %w", err)
	}
	if permitted == 0 {
		return nil
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_RAISE, unix.CAP_NET_ADMIN, 0, 0); err != nil {
		return fmt.Errorf("keep NET_ADMIN: %w", err)
	}
	return nil
}

// CopyCommand returns `replab copy --to DIR`, the init container that brings this binary, as DIR/replab, to a container
// whose image does not have it.
func CopyCommand() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:           "copy --to DIR",
		Short:         "Copy this binary into a folder",
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(*cobra.Command, []string) error {
			if err := copySelf(dir); err != nil {
				return fmt.Errorf("copy this binary to %s: %w", dir, err)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&dir, "to", "", "folder to copy to")
	if err := cmd.MarkFlagRequired("to"); err != nil {
		panic(err) // the flag was defined in the line above
	}
	return cmd
}

// copyMode lets everybody execute the copy and nobody read it. Linux closes a process to others of its user, as closeProcess does,
// from its very start when it executes a file that the user may not read: no moment is left to look into an agent that begins.
const copyMode = 0o111

// copySelf replaces the copy as a whole: one that is being executed cannot be written to.
func copySelf(dir string) error {
	self, err := os.Open("/proc/self/exe")
	if err != nil {
		return err
	}
	defer self.Close()
	fresh, err := os.CreateTemp(dir, ".replab-*")
	if err != nil {
		return err
	}
	defer os.Remove(fresh.Name()) // fails once it is renamed
	_, err = io.Copy(fresh, self)
	if err := errors.Join(err, fresh.Chmod(copyMode), fresh.Close()); err != nil {
		return err
	}
	return os.Rename(fresh.Name(), filepath.Join(dir, "replab"))
}
