package plugin

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/duration"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/report/progress"
	"replab.dev/internal/report/remedy"
	"replab.dev/internal/report/summary"
	"replab.dev/internal/report/terminal"
	"replab.dev/internal/report/wording"
	"replab.dev/internal/topology/registry"
)

func describeCommand(o *Options) *cobra.Command {
	return &cobra.Command{
		Use:               "describe NAME",
		Short:             "Show an experiment or a suite: its spec, progress and result, and what to do next",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: o.completeNames(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := o.Connect()
			if err != nil {
				return err
			}
			x, s, err := c.find(cmd.Context(), args[0])
			switch {
			case err != nil:
				return err
			case s != nil:
				o.describeSuite(s)
			default:
				describe(o.Out, x, time.Now())
			}
			return nil
		},
	}
}

func describe(out io.Writer, x *v1alpha1.ReplicationExperiment, now time.Time) {
	row := func(name, format string, args ...any) {
		terminal.Row(out, name, fmt.Sprintf(format, args...))
	}
	t := x.Spec.Topology
	row("Name", "%s in namespace %s, %s old", x.Name, x.Namespace, duration.HumanDuration(now.Sub(x.CreationTimestamp.Time)))
	if x.Status.Verdict != "" {
		summary.Write(out, x)
		fmt.Fprintln(out)
	}
	row("Topology", "%s of %s, %s, behind %s", t.Type, registry.Engine(t), wording.Nodes(t), cmp.Or(string(x.Spec.Routing.Proxy), "nothing"))
	for _, s := range x.Spec.Load.Stages {
		row("Stage", "%s: %s", s.Name, wording.Stage(x.Spec, s.Name))
	}
	if x.Status.Verdict == "" || len(x.Status.Faults) == 0 { // else the result has them
		for _, f := range x.Spec.Faults {
			row("Fault", "%s: %s", f.Name, wording.HeldFault(x.Spec, f.Name))
		}
	}
	if x.Status.Verdict == "" || len(x.Status.Goals) == 0 {
		for _, g := range x.Spec.Goals {
			row("Goal", "%s", goal(g))
		}
	}
	if v := x.Status.Versions; v != nil {
		row("Versions", "operator %s, server %s, k6 %s", cmp.Or(v.Operator, "unknown"), cmp.Or(v.Server, "unknown"), cmp.Or(v.K6, "unknown"))
	}
	fmt.Fprintln(out)
	row("Now", "%s", progress.Line(x))
	var steps []string
	for _, s := range progress.Steps(x) {
		steps = append(steps, fmt.Sprintf("%s %d s", s.Name, s.Seconds))
	}
	if len(steps) > 0 {
		row("Steps", "%s", strings.Join(steps, ", "))
	}
	for _, line := range remedy.Experiment(x, now) {
		row("Next", "%s", line)
	}
	if x.Status.Verdict == "" {
		row("Next", "kubectl replab watch %s -n %s", x.Name, x.Namespace)
	}
}

func goal(g v1alpha1.Goal) string {
	var bounds []string
	if g.Max != nil {
		bounds = append(bounds, fmt.Sprintf("at most %d", *g.Max))
	}
	if g.Min != nil {
		bounds = append(bounds, fmt.Sprintf("at least %d", *g.Min))
	}
	if g.MinPercentOfBaseline != nil {
		bounds = append(bounds, fmt.Sprintf("at least %d%% of the baseline", *g.MinPercentOfBaseline))
	}
	if g.MaxPercentOfBaseline != nil {
		bounds = append(bounds, fmt.Sprintf("at most %d%% of the baseline", *g.MaxPercentOfBaseline))
	}
	return fmt.Sprintf("%s %s", g.Metric, strings.Join(bounds, ", "))
}

func abortCommand(o *Options) *cobra.Command {
	return &cobra.Command{
		Use:   "abort NAME...",
		Short: "End experiments and suites now: Inconclusive, with what was measured",
		Example: `  # end the run, and see its end
  kubectl replab abort semisync && kubectl replab watch semisync`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: o.completeNames(0),
		RunE: func(cmd *cobra.Command, names []string) error {
			c, err := o.Connect()
			if err != nil {
				return err
			}
			for _, name := range names {
				if err := o.abort(cmd.Context(), c, name); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

var abortPatch = client.RawPatch(types.MergePatchType, []byte(`{"spec":{"abort":true}}`))

func (o *Options) abort(ctx context.Context, c Cluster, name string) error {
	x, s, err := c.find(ctx, name)
	switch {
	case err != nil:
		return err
	case s != nil:
		return o.abortSuite(ctx, c, s)
	case x.Status.Verdict != "": // only cleaning up is left
		fmt.Fprintf(o.Out, "experiment %s has already ended: %s\n", x.Name, x.Status.Verdict)
		return nil
	}
	if err := c.Patch(ctx, x, abortPatch); err != nil {
		return fmt.Errorf("abort experiment %s: %w", x.Name, err)
	}
	fmt.Fprintf(o.Out, "experiment %s is being ended: it will be Inconclusive. `kubectl replab watch %[1]s -n %[2]s` shows the end\n", x.Name, x.Namespace)
	return nil
}
