package plugin

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/decode"
	"replab.dev/internal/figure"
	"replab.dev/internal/plain"
	"replab.dev/internal/topology/registry"
)

func listCommand(o *Options) *cobra.Command {
	all := false
	format := genericclioptions.NewPrintFlags("").WithTypeSetter(scheme.Scheme)
	format.TemplatePrinterFlags = nil // `kubectl get repx` has these
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List experiments and suites with their results, the newest last",
		Long: `List experiments and suites with their results, the newest last.

--output has the experiments alone: kubectl get repsuite -o has the suites.`,
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
			suites, err := c.suites(cmd.Context(), namespace)
			if err != nil { // a person's rights, or the CRDs, may be older than suites
				fmt.Fprintln(o.ErrOut, "Suites are not shown:", err)
			}
			if len(found.Items) == 0 && len(suites) == 0 {
				fmt.Fprintln(o.ErrOut, nothing(namespace))
				return nil
			}
			now := time.Now()
			var tables []string
			if len(suites) > 0 {
				tables = append(tables, aligned(suiteRows(suites, all, now)))
			}
			if len(found.Items) > 0 {
				tables = append(tables, aligned(rows(found.Items, all, now)))
			}
			fmt.Fprint(o.Out, strings.Join(tables, "\n"))
			return nil
		},
	}
	cmd.Flags().BoolVarP(&all, "all-namespaces", "A", false, "list the experiments of all namespaces")
	format.AddFlags(cmd)
	return cmd
}

func nothing(namespace string) string {
	if namespace == "" {
		return "There are no experiments and no suites in the cluster."
	}
	return fmt.Sprintf("There are no experiments and no suites in namespace %s.", namespace)
}

func aligned(rows [][]string) string {
	var b strings.Builder
	w := printers.GetNewTabWriter(&b)
	for _, row := range rows {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	_ = w.Flush() // the builder takes everything
	return b.String()
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
	return p.PrintObj(found, o.drawn) // for programs: nothing is taken from it
}

// rows of the table, its head first. The status has the figures as they are shown; "-" is one that was not measured.
func rows(all []v1alpha1.ReplicationExperiment, namespaces bool, now time.Time) [][]string {
	head := []string{"NAME", "TOPOLOGY", "ENGINE", "PHASE", "VERDICT"}
	for _, entry := range columns() {
		head = append(head, entry.Column)
	}
	table := [][]string{append(head, "AGE")}
	for i := range all {
		table = append(table, row(&all[i], now))
	}
	return withNamespaces(table, namespaces, func(i int) string { return all[i].Namespace })
}

// withNamespaces adds a column of the rows' namespaces, if asked for.
func withNamespaces(table [][]string, asked bool, of func(i int) string) [][]string {
	if !asked {
		return table
	}
	table[0] = append([]string{"NAMESPACE"}, table[0]...)
	for i := range table[1:] {
		table[i+1] = append([]string{of(i)}, table[i+1]...)
	}
	return table
}

// suiteRows are the table of suites, its head first.
func suiteRows(all []v1alpha1.ReplicationSuite, namespaces bool, now time.Time) [][]string {
	table := [][]string{{"SUITE", "TRIALS", "VERDICT", "ETA", "AGE"}}
	for _, s := range all {
		eta := ""
		if end := s.Status.EstimatedCompletionTime; end != nil && end.After(now) && s.Status.Verdict == "" {
			eta = duration.HumanDuration(end.Sub(now))
		}
		table = append(table, []string{
			s.Name, orDash(s.Status.Columns["trials"]), orDash(string(s.Status.Verdict)), orDash(eta), duration.HumanDuration(now.Sub(s.CreationTimestamp.Time)),
		})
	}
	return withNamespaces(table, namespaces, func(i int) string { return all[i].Namespace })
}

// suites of a namespace, or of all, the newest last.
func (c Cluster) suites(ctx context.Context, namespace string) ([]v1alpha1.ReplicationSuite, error) {
	var found v1alpha1.ReplicationSuiteList
	if err := c.List(ctx, &found, client.InNamespace(namespace)); err != nil {
		return nil, err
	}
	slices.SortStableFunc(found.Items, func(a, b v1alpha1.ReplicationSuite) int { return a.CreationTimestamp.Compare(b.CreationTimestamp.Time) })
	return found.Items, nil
}

// columns are the figures that the table shows.
func columns() []figure.Entry {
	return slices.DeleteFunc(figure.All(), func(e figure.Entry) bool { return e.Column == "" })
}

func row(x *v1alpha1.ReplicationExperiment, now time.Time) []string {
	s := &x.Status
	cells := []string{x.Name, string(x.Spec.Topology.Type), orDash(string(registry.Engine(x.Spec.Topology))), orDash(s.Phase), orDash(string(s.Verdict))}
	for _, entry := range columns() {
		cells = append(cells, orDash(s.Columns[entry.Name]))
	}
	return append(cells, duration.HumanDuration(now.Sub(x.CreationTimestamp.Time)))
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// experiments of a namespace, or of all. Those that cannot be decoded are named to warn.
func (c Cluster) experiments(ctx context.Context, namespace string, warn io.Writer) ([]v1alpha1.ReplicationExperiment, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("ReplicationExperimentList"))
	if err := c.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return nil, err
	}
	return decoded(list.Items, warn), nil
}

func decoded(items []unstructured.Unstructured, warn io.Writer) []v1alpha1.ReplicationExperiment {
	all := make([]v1alpha1.ReplicationExperiment, 0, len(items))
	for i := range items {
		var x v1alpha1.ReplicationExperiment
		if err := decode.Experiment(&items[i], &x); err != nil {
			fmt.Fprintf(warn, "Experiment %s/%s cannot be decoded: %s\n", items[i].GetNamespace(), items[i].GetName(), plain.Line(err.Error()))
			continue
		}
		all = append(all, x)
	}
	return all
}
