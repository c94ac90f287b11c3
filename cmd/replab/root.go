package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"replab.dev/controllers"
	"replab.dev/internal/agent"
	"replab.dev/internal/audit"
	"replab.dev/internal/director"
	"replab.dev/internal/measure"
	"replab.dev/internal/recorder"
	"replab.dev/internal/render"
	"replab.dev/internal/seed"
	"replab.dev/internal/social"
	"replab.dev/internal/starter"
	"replab.dev/internal/topology/patroni/rewind"
	"replab.dev/internal/topology/registry/processes"
)

// root is the command line: one subcommand per process, each from the package that implements it.
func root() *cobra.Command {
	cmd := &cobra.Command{
		Use:           "replab",
		Short:         "Experiments on database replication: what a topology costs, and what it loses when something dies",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	cmd.AddCommand(
		controllers.Command(controllers.Build{Version: version, Servers: servers}),
		agent.Command(locals, processes.Agents), starter.Command(starters, processes.Starters), rewind.Command(starters), agent.CopyCommand(),
		director.Command(admins), render.Command(),
		social.Command(stores), recorder.Command(probes),
		seed.Command(loaders), audit.Command(readers), measure.Command(),
		versionCommand(),
	)
	return cmd
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "replab %s %s %s/%s\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}
