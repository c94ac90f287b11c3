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
	if namespaces {
		table[0] = append([]string{"NAMESPACE"}, table[0]...)
		for i := range all {
			table[i+1] = append([]string{all[i].Namespace}, table[i+1]...)
		}
	}
	return table
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
			fmt.Fprintf(warn, "Experiment %s/%s cannot be decoded: %v\n", items[i].GetNamespace(), items[i].GetName(), err)
			continue
		}
		all = append(all, x)
	}
	return all
}
