package plugin

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/compare"
	"replab.dev/internal/plugin/follow"
	"replab.dev/internal/report/figures"
	"replab.dev/internal/topology/registry"
)

func listCommand(o *Options) *cobra.Command {
	all := false
	format := genericclioptions.NewPrintFlags("").WithTypeSetter(scheme.Scheme)
	format.TemplatePrinterFlags = nil // `kubectl get repx` has these
	cmd := &cobra.Command{
		Use:               "list",
		Aliases:           []string{"ls"},
		Short:             "List experiments with what came of them, the newest last",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := o.Connect()
			if err != nil {
				return err
			}
			namespace := c.Namespace
			if all {
				namespace = ""
			}
			var found v1alpha1.ReplicationExperimentList
			if found.Items, err = c.experiments(cmd.Context(), namespace, o.ErrOut); err != nil {
				return fmt.Errorf("list the experiments: %w", explained(err))
			}
			slices.SortStableFunc(found.Items, func(a, b v1alpha1.ReplicationExperiment) int {
				return a.CreationTimestamp.Compare(b.CreationTimestamp.Time)
			})
			if *format.OutputFormat != "" {
				return o.printList(format, &found)
			}
			if len(found.Items) == 0 {
				fmt.Fprintln(o.ErrOut, nothing(namespace))
				return nil
			}
			w := printers.GetNewTabWriter(o.Out)
			for _, row := range rows(found.Items, all, time.Now()) {
				fmt.Fprintln(w, strings.Join(row, "\t"))
			}
			return w.Flush()
		},
	}
	cmd.Flags().BoolVarP(&all, "all-namespaces", "A", false, "list the experiments of all namespaces")
	format.AddFlags(cmd)
	return cmd
}

func nothing(namespace string) string {
	if namespace == "" {
		return "There are no experiments in the cluster."
	}
	return fmt.Sprintf("There are no experiments in namespace %s.", namespace)
}

func (o *Options) printList(flags *genericclioptions.PrintFlags, found *v1alpha1.ReplicationExperimentList) error {
	p, err := flags.ToPrinter()
	if err != nil {
		return err
	}
	kind := v1alpha1.GroupVersion.WithKind("ReplicationExperiment")
	for i := range found.Items {
		found.Items[i].SetGroupVersionKind(kind)
		if *flags.OutputFormat == "name" {
			if err := p.PrintObj(&found.Items[i], o.Out); err != nil {
				return err
			}
		}
	}
	if *flags.OutputFormat == "name" {
		return nil
	}
	found.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("ReplicationExperimentList"))
	return p.PrintObj(found, o.Out)
}

// rows of the table, its head first. What was not measured is "-".
func rows(all []v1alpha1.ReplicationExperiment, namespaces bool, now time.Time) [][]string {
	head := []string{"NAME", "TOPOLOGY", "ENGINE", "PHASE", "VERDICT", "REQUESTS/S", "P99", "LAG-P99", "LOST", "GHOSTS", "OUTAGE", "AGE"}
	table := [][]string{head}
	for i := range all {
		table = append(table, row(&all[i], now))
	}
	if namespaces {
		table[0] = append([]string{"NAMESPACE"}, table[0]...)
		for i := range all {
			table[i+1] = append([]string{all[i].Namespace}, table[i+1]...)
		}
	}
	return table
}

func row(x *v1alpha1.ReplicationExperiment, now time.Time) []string {
	s := x.Status
	var lost *int64
	perSecond, p99, lag := "-", "-", "-"
	if s.Load != nil {
		perSecond = orDash(s.Load.RequestsPerSecondText)
		if l := s.Load.Latency; l != nil {
			p99 = percentile(&l.P99Microseconds, l.LowerBounds)
			if compare.Contradicted(x.Spec, s.Load) != "" {
				p99 += "?"
			}
		}
	}
	if s.Replication != nil && s.Replication.Lag != nil {
		lag = percentile(s.Replication.Lag.P99Microseconds, s.Replication.Lag.LowerBounds)
	}
	if s.Writes != nil {
		lost = s.Writes.Lost
	}
	return []string{
		x.Name, string(x.Spec.Topology.Type), orDash(string(registry.Engine(x.Spec.Topology))), orDash(s.Phase), orDash(string(s.Verdict)), perSecond,
		p99, lag, losses(lost, s), count(s.GhostWrites), outage(s),
		duration.HumanDuration(now.Sub(x.CreationTimestamp.Time)),
	}
}

// percentile is a p99, or the lower bound of it.
func percentile(us *int64, lower []v1alpha1.Percentile) string {
	if us == nil {
		return "-"
	}
	return cell(follow.Percentile(time.Duration(*us)*time.Microsecond, slices.Contains(lower, v1alpha1.P99)))
}

// outage is one, or the most or the least that it may have been.
func outage(s v1alpha1.ReplicationExperimentStatus) string {
	if s.OutageMilliseconds == nil {
		return "-"
	}
	d := time.Duration(*s.OutageMilliseconds) * time.Millisecond
	switch {
	case s.OutageLowerBound:
		return cell(follow.AtLeast(d))
	case ptr.Deref(s.OutageUncertaintyMilliseconds, 0) > 0:
		return cell(follow.AtMost(d))
	}
	return cell(follow.Span(d))
}

// losses may be a lower bound.
func losses(n *int64, s v1alpha1.ReplicationExperimentStatus) string {
	if n != nil && figures.LossesOpen(s) {
		return "≥" + count(n)
	}
	return count(n)
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func count(n *int64) string {
	if n == nil {
		return "-"
	}
	return strconv.FormatInt(*n, 10)
}

// cell of a column has no blanks.
func cell(words string) string { return strings.ReplaceAll(words, " ", "") }
