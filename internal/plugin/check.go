package plugin

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/internal/check"
	"replab.dev/internal/report/table"
)

// reach is how long a cluster may take to answer before it counts as away.
const reach = 5 * time.Second

func checkCommand(o *Options) *cobra.Command {
	local := false
	cmd := &cobra.Command{
		Use:   "check FILE...",
		Short: "Tell what is wrong with experiments, without running them",
		Long: `Tell what is wrong with experiments, without running them. The fields and rules are checked without a cluster. Where a cluster answers, it
looks at the experiments too, by a dry run. Nothing is changed.

Exit codes: 0 nothing is wrong, 1 an experiment is refused, 3 the files cannot be read.`,
		Example: `  kubectl replab check experiments/semisync.yaml
  kubectl replab check --local experiments/*.yaml
  kustomize build . | kubectl replab check -`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, files []string) error { return o.check(cmd.Context(), files, local) },
	}
	cmd.Flags().BoolVar(&local, "local", false, "ask no cluster")
	return cmd
}

func (o *Options) check(ctx context.Context, files []string, local bool) error {
	found, err := o.readHere(files)
	if err != nil {
		return err
	}
	experiments, _ := sorted(found)
	if len(experiments) == 0 {
		return fmt.Errorf("no ReplicationExperiment is in %v", files)
	}
	refused, err := o.checkHere(ctx, experiments, true)
	if err != nil {
		return err
	}
	fine := slices.DeleteFunc(slices.Clone(experiments), func(x *unstructured.Unstructured) bool { return slices.Contains(refused, x) })
	if !local && len(fine) > 0 && !o.checkThere(ctx, fine) || len(refused) > 0 {
		return exit(ExitFailed)
	}
	return nil
}

// checkHere checks experiments without a cluster and shows what is wrong. It returns those that are refused.
func (o *Options) checkHere(ctx context.Context, experiments []*unstructured.Unstructured, all bool) (refused []*unstructured.Unstructured, err error) {
	for _, x := range experiments {
		answer, err := check.Experiment(ctx, x, o.Servers)
		if err != nil {
			return nil, err
		}
		sentences := answer.Sentences()
		switch {
		case len(sentences) > 0:
			refused = append(refused, x)
			fmt.Fprintf(o.Out, "%s: refused\n", table.Harmless(x.GetName()))
			for _, s := range sentences {
				fmt.Fprintf(o.Out, "  %s\n", table.Harmless(s))
			}
		case all:
			fmt.Fprintf(o.Out, "%s: nothing is wrong\n", table.Harmless(x.GetName()))
		}
	}
	return refused, nil
}

// checkThere has the cluster look at experiments, where there is one, and tells whether it takes all. They have names that are free: one of the same name
// may have run.
func (o *Options) checkThere(ctx context.Context, experiments []*unstructured.Unstructured) bool {
	c, err := o.Connect()
	if err != nil {
		fmt.Fprintf(o.ErrOut, "No cluster was asked: %s\n", table.Harmless(err.Error()))
		return true
	}
	r := &runner{Options: o}
	ok := true
	for _, x := range experiments {
		limited, cancel := context.WithTimeout(ctx, reach)
		_, err := r.apply(limited, c, renamed(x), client.DryRunAll)
		cancel()
		switch {
		case err == nil:
		case apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
			ok = false
			fmt.Fprintf(o.Out, "%s: refused by the cluster\n  %s\n", table.Harmless(x.GetName()), table.Harmless(err.Error()))
		default:
			fmt.Fprintf(o.ErrOut, "%s: the cluster did not look at it: %s\n", table.Harmless(x.GetName()), table.Harmless(err.Error()))
		}
	}
	return ok
}
