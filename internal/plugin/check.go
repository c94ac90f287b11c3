package plugin

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/check"
	"replab.dev/internal/plain"
)

// reach is how long a cluster may take to answer before it counts as away.
const reach = 5 * time.Second

func checkCommand(o *Options) *cobra.Command {
	local := false
	cmd := &cobra.Command{
		Use:   "check FILE|FOLDER...",
		Short: "List the errors of experiments and suites without running them",
		Long: `List the errors of experiments and suites without running them. The fields and rules are checked without a cluster, of a suite those
of every variant too. Where a cluster answers, it looks at the objects by a dry run. Nothing is changed. Of a folder, all files below it are
checked that have experiments or suites.

Exit codes: 0 all are valid, 1 one is refused, 3 the files cannot be read.`,
		Example: `  kubectl replab check experiments/semisync.yaml
  kubectl replab check --local .
  kustomize build . | kubectl replab check -`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, files []string) error { return o.check(cmd.Context(), files, local) },
	}
	cmd.Flags().BoolVar(&local, "local", false, "ask no cluster")
	return cmd
}

func (o *Options) check(ctx context.Context, names []string, local bool) error {
	files, err := o.manifests(names)
	if err != nil {
		return err
	}
	found, from, err := o.readBy(resource.NewBuilder(o.Config).Unstructured().Local(), files)
	if err != nil {
		return err
	}
	experiments, _ := sorted(found)
	if len(experiments) == 0 {
		return fmt.Errorf("no ReplicationExperiment or ReplicationSuite is in %v", names)
	}
	label := func(x *unstructured.Unstructured) string {
		if len(files) == 1 {
			return plainName(x)
		}
		return lead(from[x] + ": " + x.GetName())
	}
	refused, err := o.checkHere(ctx, experiments, o.Out, label)
	if err != nil {
		return err
	}
	isRefused := func(x *unstructured.Unstructured) bool { return slices.Contains(refused, x) }
	fine := slices.DeleteFunc(slices.Clone(experiments), isRefused)
	var unseen []*unstructured.Unstructured
	if !local && len(fine) > 0 {
		refusedThere, notSeen := o.checkThere(ctx, fine, label)
		refused, unseen = append(refused, refusedThere...), notSeen
	}
	for _, x := range slices.DeleteFunc(fine, isRefused) {
		found := "valid"
		if slices.Contains(unseen, x) {
			found += ", but no cluster checked it"
		}
		fmt.Fprintf(o.Out, "%s: %s\n", label(x), found)
	}
	if len(refused) > 0 {
		return exit(ExitFailed)
	}
	return nil
}

// manifests lists the named files, and the files with experiments or suites below the named folders.
func (o *Options) manifests(names []string) (files []string, err error) {
	for _, name := range names {
		if info, err := os.Stat(name); err != nil || !info.IsDir() {
			files = append(files, name) // what reads them says what is wrong
			continue
		}
		found, err := o.below(name)
		if err != nil {
			return nil, fmt.Errorf("look for experiments: %w", err)
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no ReplicationExperiment or ReplicationSuite is below %v", names)
	}
	return files, nil
}

// ours finds the version of our API in a file.
var ours = regexp.MustCompile(`["']?apiVersion["']?\s*:\s*["']?` + regexp.QuoteMeta(v1alpha1.GroupVersion.Group) + "/")

// comment of YAML, to the end of its line.
var comment = regexp.MustCompile(`(?m)(^|[ \t])#.*$`)

// below lists YAML and JSON files below a folder that name our API. It leaves out hidden files and folders, and templates.
func (o *Options) below(folder string) (files []string, err error) {
	err = filepath.WalkDir(folder+string(filepath.Separator), func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && filepath.Clean(path) != filepath.Clean(folder) && strings.HasPrefix(entry.Name(), "."):
			return filepath.SkipDir
		case strings.HasPrefix(entry.Name(), "."):
			return nil
		case !entry.Type().IsRegular() || !slices.Contains(resource.FileExtensions, filepath.Ext(path)):
			return nil
		}
		text, err := os.ReadFile(path)
		switch {
		case err != nil || !ours.Match(text):
		case bytes.Contains(comment.ReplaceAll(text, nil), []byte("{{")):
			fmt.Fprintf(o.ErrOut, "%s: not checked, since it is a template\n", lead(path))
		default:
			files = append(files, filepath.Clean(path))
		}
		return err
	})
	return files, err
}

// checkHere checks experiments without a cluster, shows what is wrong, and returns those that are refused.
func (o *Options) checkHere(
	ctx context.Context, experiments []*unstructured.Unstructured, w io.Writer, label func(*unstructured.Unstructured) string,
) (refused []*unstructured.Unstructured, err error) {
	for _, x := range experiments {
		sentences, err := o.wrong(ctx, x)
		if err != nil {
			return nil, err
		}
		if len(sentences) == 0 {
			continue
		}
		refused = append(refused, x)
		fmt.Fprintf(w, "%s: refused\n", label(x))
		for _, s := range sentences {
			fmt.Fprintf(w, "  %s\n", lead(s))
		}
	}
	return refused, nil
}

// wrong is what is wrong with an experiment or a suite, a sentence for each error.
func (o *Options) wrong(ctx context.Context, x *unstructured.Unstructured) ([]string, error) {
	if why := unsupported(x); why != "" {
		return []string{why}, nil
	}
	look := check.Experiment
	if isSuite(x) {
		look = check.Suite
	}
	answer, err := look(ctx, x, o.Servers)
	return answer.Sentences(), err
}

// checkThere has the cluster look at experiments, where there is one, and returns those that it refuses and those that it did not look at. They get
// free names: one of the same name may have run.
func (o *Options) checkThere(
	ctx context.Context, experiments []*unstructured.Unstructured, label func(*unstructured.Unstructured) string,
) (refused, unseen []*unstructured.Unstructured) {
	c, err := o.Connect()
	if err != nil {
		fmt.Fprintf(o.ErrOut, "No cluster was asked: %s\n", plain.Line(err.Error()))
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
			fmt.Fprintf(o.Out, "%s: refused by the cluster\n  %s\n", label(x), lead(err.Error()))
		default:
			unseen = append(unseen, x)
			fmt.Fprintf(o.ErrOut, "%s: not checked by the cluster: %s\n", label(x), plain.Line(err.Error()))
		}
	}
	return refused, unseen
}

// read what is in files, "-" being the standard input, in the order in which it stands there.
func (o *Options) read(files []string) ([]*unstructured.Unstructured, error) {
	all, _, err := o.readBy(resource.NewBuilder(o.Config).Unstructured(), files)
	return all, err
}

// readBy a builder, which may be without a cluster. It tells the file of each too.
func (o *Options) readBy(builder *resource.Builder, files []string) ([]*unstructured.Unstructured, map[*unstructured.Unstructured]string, error) {
	namespace, enforce, err := o.Config.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil, nil, err
	}
	infos, err := builder.
		NamespaceParam(namespace).DefaultNamespace().FilenameParam(enforce, &resource.FilenameOptions{Filenames: files}).
		Flatten().Do().Infos()
	if err != nil {
		return nil, nil, explained(err)
	}
	var all []*unstructured.Unstructured
	from := map[*unstructured.Unstructured]string{}
	for _, i := range infos {
		if x, ok := i.Object.(*unstructured.Unstructured); ok {
			if isRun(x) && x.GetNamespace() == "" { // without a cluster the builder cannot know that it needs one
				x.SetNamespace(namespace)
			}
			all, from[x] = append(all, x), i.Source
		}
	}
	return all, from, nil
}

// sorted tells experiments and suites from what they need.
func sorted(all []*unstructured.Unstructured) (experiments, others []*unstructured.Unstructured) {
	for _, x := range all {
		if isRun(x) {
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

// once fails where two of a kind have the same name: the second would be taken for the first.
func once(experiments []*unstructured.Unstructured) error {
	type key struct{ kind, namespace, name string }
	known := map[key]bool{}
	for _, x := range experiments {
		key := key{x.GetKind(), x.GetNamespace(), x.GetName()}
		if known[key] {
			return fmt.Errorf("%s is in the files twice: give one another name", named(x))
		}
		known[key] = true
	}
	return nil
}
