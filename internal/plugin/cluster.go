package plugin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/results"
	"replab.dev/internal/runs"
)

const (
	// look is the default time between two looks at a run.
	look = 500 * time.Millisecond
	// requestsPerSecond and requestBurst limit a command: the library's defaults are for controllers.
	requestsPerSecond = 50
	requestBurst      = 100
)

// Cluster is what a command works on.
type Cluster struct {
	runs.Cluster
	Namespace string // of the flags, or of the context
	Config    *rest.Config
}

// Connect by the flags.
func (o *Options) Connect() (Cluster, error) {
	ctrl.SetLogger(logr.Discard()) // the library logs by itself
	config, err := o.Config.ToRESTConfig()
	if err != nil {
		return Cluster{}, fmt.Errorf("find the cluster: %w; set KUBECONFIG or --kubeconfig", err)
	}
	config.QPS, config.Burst = requestsPerSecond, requestBurst
	config.WarningHandler = rest.NewWarningWriter(o.ErrOut, rest.WarningWriterOptions{Deduplicate: true})
	config.UserAgent = "kubectl-replab/" + o.Version
	namespace, _, err := o.Config.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return Cluster{}, fmt.Errorf("find the namespace: %w; name one with --namespace", err)
	}
	reached, err := runs.New(config, cmp.Or(o.look, look))
	return Cluster{Cluster: reached, Namespace: namespace, Config: config}, explained(err)
}

// Experiment of the namespace by its name.
func (c Cluster) Experiment(ctx context.Context, name string) (*v1alpha1.ReplicationExperiment, error) {
	x := &v1alpha1.ReplicationExperiment{}
	if err := c.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: name}, x); err != nil {
		if apierrors.IsNotFound(err) && !meta.IsNoMatchError(err) {
			return nil, fmt.Errorf("there is no experiment %s in namespace %s: `kubectl replab list -A` shows all", name, c.Namespace)
		}
		return nil, fmt.Errorf("read experiment %s: %w", name, explained(err))
	}
	return x, nil
}

// Document is the results of an experiment. The error says why there are none.
func (c Cluster) Document(ctx context.Context, name string) (*results.Results, error) {
	document, err := c.Results(ctx, client.ObjectKey{Namespace: c.Namespace, Name: name})
	if err != nil || document != nil {
		return document, err
	}
	x, err := c.Experiment(ctx, name)
	if err != nil {
		return nil, err
	}
	if !complete(x) {
		return nil, fmt.Errorf("experiment %s has no results yet, it is at %q: `kubectl replab watch %[1]s -n %[3]s` follows it", name, x.Status.Phase, c.Namespace)
	}
	return nil, fmt.Errorf("the results of experiment %s are gone: ConfigMap %s is not in namespace %s", name, results.Name(name), c.Namespace)
}

func complete(x *v1alpha1.ReplicationExperiment) bool {
	return meta.IsStatusConditionTrue(x.Status.Conditions, v1alpha1.ConditionComplete)
}

// explained says what to do if replab is not installed, or if it has no such kind.
func explained(err error) error {
	if kind, ok := errors.AsType[*meta.NoKindMatchError](err); ok {
		x := &unstructured.Unstructured{}
		x.SetAPIVersion(kind.GroupKind.Group + "/" + strings.Join(kind.SearchedVersions, ","))
		x.SetKind(kind.GroupKind.Kind)
		switch why := unsupported(x); {
		case !isRun(x):
			return err
		case why != "":
			return errors.New(why)
		}
	}
	if meta.IsNoMatchError(err) {
		return errors.New("replab is not installed: see docs/how-to/install.md#the-operator, then run `kubectl replab doctor`")
	}
	return err
}

// completeNames completes the names of experiments and suites, of at most so many arguments; 0 for any number.
func (o *Options) completeNames(most int) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if most > 0 && len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		c, err := o.Connect()
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		found, err := c.experiments(cmd.Context(), c.Namespace, io.Discard)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		var names []string
		for _, x := range found {
			names = append(names, x.Name)
		}
		suites, _ := c.suites(cmd.Context(), c.Namespace) // without the right to list them there are none to complete
		for _, s := range suites {
			names = append(names, s.Name)
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}
