package agent

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
)

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
