package plugin

import (
	"context"
	"fmt"
	"io"
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
	refused, err := o.checkHere(ctx, experiments, o.Out)
	if err != nil {
		return err
	}
	isRefused := func(x *unstructured.Unstructured) bool { return slices.Contains(refused, x) }
	fine := slices.DeleteFunc(slices.Clone(experiments), isRefused)
	var unseen []*unstructured.Unstructured
	if !local && len(fine) > 0 {
		refusedThere, notSeen := o.checkThere(ctx, fine)
		refused, unseen = append(refused, refusedThere...), notSeen
	}
	for _, x := range slices.DeleteFunc(fine, isRefused) {
		found := "nothing is wrong"
		if slices.Contains(unseen, x) {
			found += " without a cluster, and none looked at it"
		}
		fmt.Fprintf(o.Out, "%s: %s\n", table.Harmless(x.GetName()), found)
	}
	if len(refused) > 0 {
		return exit(ExitFailed)
	}
	return nil
}

// checkHere checks experiments without a cluster, shows what is wrong, and returns those that are refused.
func (o *Options) checkHere(ctx context.Context, experiments []*unstructured.Unstructured, w io.Writer) (refused []*unstructured.Unstructured, err error) {
	for _, x := range experiments {
		answer, err := check.Experiment(ctx, x, o.Servers)
		if err != nil {
			return nil, err
		}
		sentences := answer.Sentences()
		if len(sentences) == 0 {
			continue
		}
		refused = append(refused, x)
		fmt.Fprintf(w, "%s: refused\n", table.Harmless(x.GetName()))
		for _, s := range sentences {
			fmt.Fprintf(w, "  %s\n", table.Harmless(s))
		}
	}
	return refused, nil
}

// checkThere has the cluster look at experiments, where there is one, and returns those that it refuses and those that it did not look at. They get
// free names: one of the same name may have run.
func (o *Options) checkThere(ctx context.Context, experiments []*unstructured.Unstructured) (refused, unseen []*unstructured.Unstructured) {
	c, err := o.Connect()
	if err != nil {
		fmt.Fprintf(o.ErrOut, "No cluster was asked: %s\n", table.Harmless(err.Error()))
		return nil, experiments
	}
	r := &runner{Options: o}
	for _, x := range experiments {
		limited, cancel := context.WithTimeout(ctx, reach)
		_, err := r.apply(limited, c, renamed(x), client.DryRunAll)
		cancel()
		switch {
		case err == nil:
		case apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
			refused = append(refused, x)
			fmt.Fprintf(o.Out, "%s: refused by the cluster\n  %s\n", table.Harmless(x.GetName()), table.Harmless(err.Error()))
		default:
			unseen = append(unseen, x)
			fmt.Fprintf(o.ErrOut, "%s: the cluster did not look at it: %s\n", table.Harmless(x.GetName()), table.Harmless(err.Error()))
		}
	}
	return refused, unseen
}
