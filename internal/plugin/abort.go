package plugin

import (
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func abortCommand(o *Options) *cobra.Command {
	return &cobra.Command{
		Use:   "abort NAME...",
		Short: "End experiments now: Inconclusive, with what was measured, and cleaned up",
		Example: `  # end the run and see it cleaned up
  kubectl replab abort semisync && kubectl replab watch semisync`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: o.completeNames(0),
		RunE: func(cmd *cobra.Command, names []string) error {
			c, err := o.Connect()
			if err != nil {
				return err
			}
			for _, name := range names {
				x, err := c.Experiment(cmd.Context(), name)
				if err != nil {
					return err
				}
				if x.Status.Verdict != "" { // what is left is the cleaning up
					fmt.Fprintf(o.Out, "experiment %s is over already: %s\n", name, x.Status.Verdict)
					continue
				}
				if err := c.Patch(cmd.Context(), x, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"abort":true}}`))); err != nil {
					return fmt.Errorf("abort experiment %s: %w", name, err)
				}
				fmt.Fprintf(o.Out, "experiment %s is being ended: it will be Inconclusive, and `kubectl replab watch %s` tells when all is gone\n", name, name)
			}
			return nil
		},
	}
}
