package plugin

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
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

Exit codes: 0 every experiment is valid, 1 an experiment is refused, 3 the files cannot be read.`,
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
		found := "valid"
		if slices.Contains(unseen, x) {
			found += ", but no cluster checked it"
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
			fmt.Fprintf(o.ErrOut, "%s: not checked by the cluster: %s\n", table.Harmless(x.GetName()), table.Harmless(err.Error()))
		}
	}
	return refused, unseen
}

// read what is in files, "-" being the standard input, in the order in which it stands there.
func (o *Options) read(files []string) ([]*unstructured.Unstructured, error) {
	return o.readBy(resource.NewBuilder(o.Config).Unstructured(), files)
}

// readHere does the same without a cluster.
func (o *Options) readHere(files []string) ([]*unstructured.Unstructured, error) {
	return o.readBy(resource.NewBuilder(o.Config).Unstructured().Local(), files)
}

func (o *Options) readBy(builder *resource.Builder, files []string) ([]*unstructured.Unstructured, error) {
	namespace, enforce, err := o.Config.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil, err
	}
	infos, err := builder.
		NamespaceParam(namespace).DefaultNamespace().FilenameParam(enforce, &resource.FilenameOptions{Filenames: files}).
		Flatten().Do().Infos()
	if err != nil {
		return nil, explained(err)
	}
	var all []*unstructured.Unstructured
	for _, i := range infos {
		if x, ok := i.Object.(*unstructured.Unstructured); ok {
			if isExperiment(x) && x.GetNamespace() == "" { // without a cluster the builder cannot know that it needs one
				x.SetNamespace(namespace)
			}
			all = append(all, x)
		}
	}
	return all, nil
}

// isExperiment tells experiments from what they need.
func isExperiment(x *unstructured.Unstructured) bool {
	kind := x.GroupVersionKind()
	return kind.Group == v1alpha1.GroupVersion.Group && kind.Kind == "ReplicationExperiment"
}

func sorted(all []*unstructured.Unstructured) (experiments, others []*unstructured.Unstructured) {
	for _, x := range all {
		if isExperiment(x) {
			experiments = append(experiments, x)
		} else {
			others = append(others, x)
		}
	}
	slices.SortStableFunc(others, func(a, b *unstructured.Unstructured) int { return order(a) - order(b) })
	return experiments, others
}

// order has the namespaces first, which the rest may be in.
func order(x *unstructured.Unstructured) int {
	if isNamespace(x) {
		return 0
	}
	return 1
}

func isNamespace(x *unstructured.Unstructured) bool {
	return x.GroupVersionKind() == corev1.SchemeGroupVersion.WithKind("Namespace")
}

// makes tells whether a namespace is among objects.
func makes(all []*unstructured.Unstructured, namespace string) bool {
	return slices.ContainsFunc(all, func(x *unstructured.Unstructured) bool { return isNamespace(x) && x.GetName() == namespace })
}

// once fails where two experiments have the same name: the second would be taken for the first.
func once(experiments []*unstructured.Unstructured) error {
	known := map[client.ObjectKey]bool{}
	for _, x := range experiments {
		key := client.ObjectKeyFromObject(x)
		if known[key] {
			return fmt.Errorf("experiment %s is in the files twice: give one another name", x.GetName())
		}
		known[key] = true
	}
	return nil
}
