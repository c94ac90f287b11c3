package plugin

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
)

func versionCommand(o *Options) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the plugin's version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(o.Out, "kubectl-replab %s %s %s/%s\n", o.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}
