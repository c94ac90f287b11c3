// Package process holds what every subcommand of replab does in the same way: it loads its configuration, reads its
// secrets, serves HTTP until it is told to stop, asks for a token, and publishes what it found in its ConfigMap.
package process

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// Context ends at the first SIGTERM or SIGINT. A second signal ends the process at once, as it would without replab.
func Context() (context.Context, context.CancelFunc) {
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	context.AfterFunc(ctx, cancel)
	return ctx, cancel
}

// Logger writes text (logfmt) to stderr, the only log of a replab process.
func Logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, nil))
}

// Command returns the subcommand `replab <name> --config FILE`, which loads a configuration of type C and calls run
// with it. The context ends at SIGTERM or SIGINT; run then stops gracefully and returns nil.
func Command[C any](name, short string, run func(ctx context.Context, cfg C) error) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:           name + " --config FILE",
		Short:         short,
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(*cobra.Command, []string) error {
			slog.SetDefault(Logger())
			var cfg C
			if err := LoadConfig(file, &cfg); err != nil {
				return err
			}
			ctx, cancel := Context()
			defer cancel()
			return run(ctx, cfg)
		},
	}
	cmd.Flags().StringVar(&file, "config", "", "JSON configuration file")
	if err := cmd.MarkFlagRequired("config"); err != nil {
		panic(err) // the flag was defined in the line above
	}
	return cmd
}

// LoadConfig reads the JSON document at path into cfg, a pointer. An unknown field and anything after the document are
// errors: a setting that is silently ignored would be measured as if it had been applied.
func LoadConfig(path string, cfg any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("load configuration: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(cfg); err != nil {
		return fmt.Errorf("load configuration %s: %w", path, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("load configuration %s: there is more after the document; the file must hold exactly one", path)
	}
	return nil
}

// Secret reads the file name in dir, such as an account's password or the token. One newline at the end does not
// belong to it. An empty secret is an error: it would let everybody in.
func Secret(dir, name string) (string, error) {
	path := filepath.Join(dir, name)
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read secret: %w", err)
	}
	secret := strings.TrimSuffix(string(text), "\n")
	if secret == "" {
		return "", fmt.Errorf("read secret %s: the file is empty", path)
	}
	return secret, nil
}
