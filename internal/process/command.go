package process

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
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
