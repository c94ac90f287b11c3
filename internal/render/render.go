// Package render starts a program whose configuration file must hold passwords: it writes the file from one without them and from
// the mounted secrets, and then becomes the program.
package render

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"syscall"

	"github.com/spf13/cobra"

	"replab.dev/internal/process"
	"replab.dev/internal/wire"
)

// Command returns `replab launch`.
func Command() *cobra.Command {
	return process.Command("launch", "Start a program whose configuration file holds passwords", func(_ context.Context, cfg wire.LaunchConfig) error {
		return fmt.Errorf("launch: %w", run(cfg, syscall.Exec))
	})
}

// run returns only when the program could not be started.
func run(cfg wire.LaunchConfig, become func(program string, argv, env []string) error) error {
	if len(cfg.Argv) == 0 {
		return errors.New(`"argv" in the configuration is empty; it must hold the program's command line`)
	}
	template, err := os.ReadFile(cfg.Template)
	if err != nil {
		return err
	}
	whole, err := Filled(string(template), func(name string) (string, error) { return process.Secret(cfg.SecretDir, name) })
	if err != nil {
		return fmt.Errorf("%s: %w", cfg.Template, err)
	}
	if err := write(cfg.File, whole); err != nil {
		return err
	}
	program, err := exec.LookPath(cfg.Argv[0])
	if err != nil {
		return fmt.Errorf("the image has no %s: %w", cfg.Argv[0], err)
	}
	if err := become(program, cfg.Argv, os.Environ()); err != nil {
		return fmt.Errorf("start %s: %w", program, err)
	}
	return nil
}

var (
	place = regexp.MustCompile(`@secret:([a-z_]+)@`)
	// plain is what no configuration file reads as anything but itself, within quotes or not.
	plain = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)
)

// Filled puts the secrets into their places, which are @secret:NAME@.
func Filled(template string, secret func(name string) (string, error)) (string, error) {
	var failed error
	whole := place.ReplaceAllStringFunc(template, func(found string) string {
		name := place.FindStringSubmatch(found)[1]
		value, err := secret(name)
		if err == nil && !plain.MatchString(value) {
			err = fmt.Errorf("secret %s has characters that a configuration file may take for something else: use letters, digits, '_', '.' and '-' alone", name)
		}
		failed = errors.Join(failed, err)
		return value
	})
	return whole, failed
}

// write replaces a file: one of an earlier start may be half a file.
func write(file, text string) error {
	if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.WriteFile(file, []byte(text), 0o600)
}
