package controllers

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/go-logr/logr"
	"replab.dev/api/v1alpha1"
	"replab.dev/controllers/cached"
	"replab.dev/internal/cluster"
	"replab.dev/internal/engine"
	"replab.dev/internal/process"
	"replab.dev/internal/wire"
)

// retryLeast and retryMost bound the delay after which a look that ended in an error is taken again: it doubles in between. A run
// under load must not be left alone for longer.
const (
	retryLeast = 20 * time.Millisecond
	retryMost  = 5 * time.Second
)

// defaultName is of an installation whose configuration names none.
const defaultName = "replab-operator"

// electionName is of the Lease by which the replicas of an installation elect the one that works. Who installs them makes it, so that it goes with them.
func electionName(name string) string { return cmp.Or(name, defaultName) + "-leader" }

// identity of an installation, whose replicas share it: they elect the one that works.
func identity(place, name string) string { return place + "/" + cmp.Or(name, defaultName) }

// Build is what a binary brings along.
type Build struct {
	Version string
	Servers engine.Lookup[engine.Server]
}

// Command is the subcommand `operator`.
func Command(b Build) *cobra.Command {
	return process.Command("operator", "Carry out ReplicationExperiments", func(ctx context.Context, cfg wire.OperatorConfig) error {
		return runOperator(ctx, cfg, b)
	})
}

// limitMemory leaves a tenth of GOMEMLIMIT, which is the container's limit, to what is not on Go's heap.
func limitMemory() {
	if limit := debug.SetMemoryLimit(-1); limit != math.MaxInt64 {
		debug.SetMemoryLimit(limit / 10 * 9)
	}
}

func runOperator(ctx context.Context, cfg wire.OperatorConfig, b Build) error {
	limitMemory()
	log.SetLogger(logr.FromSlogHandler(process.Logger().Handler()))
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("reach the API server: %w", err)
	}
	config.QPS, config.Burst = 50, 100
	mgr, err := NewManager(config, cfg, b)
	if err != nil {
		return err
	}
	return mgr.Start(ctx)
}

// NewManager makes the operator, to be started.
func NewManager(config *rest.Config, cfg wire.OperatorConfig, b Build) (ctrl.Manager, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	experiments := &cached.Experiments{}
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: scheme, Metrics: MetricsOptions(cfg), Cache: experiments.Options(cfg.WatchNamespaces),
		LeaderElection: cfg.LeaderElection, LeaderElectionID: electionName(cfg.Name), LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		return nil, fmt.Errorf("start the manager: %w", err)
	}
	if err := setup(mgr, experiments, cfg, b); err != nil {
		return nil, err
	}
	return mgr, addHealth(mgr, cfg.HealthAddress, func() (int, error) {
		bad, err := experiments.Undecodable()
		return len(bad), err
	})
}

// known reads experiments from the cache, and writes their statuses.
type known struct {
	*cached.Experiments
	client.StatusClient
}

// setup adds the reconciler to a manager. The experiments alone are cached and watched: everything else is read when it is
// needed, which keeps the operator small and its decisions fresh.
func setup(mgr ctrl.Manager, experiments *cached.Experiments, cfg wire.OperatorConfig, b Build) error {
	direct, err := client.New(mgr.GetConfig(), client.Options{Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper()})
	if err != nil {
		return err
	}
	core, err := typedcorev1.NewForConfig(mgr.GetConfig())
	if err != nil {
		return err
	}
	namespace := os.Getenv("POD_NAMESPACE") // one operator at a time works in it: they elect it there
	hostname, err := os.Hostname()
	if err != nil {
		return err
	}
	r := &Reconciler{
		Client: known{experiments, mgr.GetClient()}, Cluster: &cluster.Cluster{Client: direct, Core: core}, Processes: processes{cluster.NewProcesses()},
		Config: cfg, Namespace: namespace, Identity: identity(cmp.Or(namespace, hostname), cfg.Name), Servers: b.Servers, Version: b.Version, Events: mgr.GetEventRecorder("replab"), Now: time.Now,
	}
	turns := &turns{experiments: experiments, direct: direct, policy: cfg.OneAtATime}
	r.Turns = turns.ahead
	if err := registerMetrics(experiments, mgr.Elected()); err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(mgr).
		For(cached.Kind(), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WatchesRawSource(leftovers(direct, cfg.WatchNamespaces)).
		WithOptions(options(cfg)).
		Complete(r)
}

// options of the controller.
func options(cfg wire.OperatorConfig) controller.Options {
	return controller.Options{
		MaxConcurrentReconciles: cmp.Or(cfg.Workers, wire.DefaultWorkers),
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[ctrl.Request](retryLeast, retryMost),
	}
}

// turns lets experiments wait for one another.
type turns struct {
	experiments client.Reader
	direct      client.Reader
	policy      string
}

// ahead counts the experiments that must end before x may begin: those under way, and those that wait and are older.
func (t *turns) ahead(ctx context.Context, x *v1alpha1.ReplicationExperiment) (int, error) {
	if wait, err := t.oneAtATime(ctx); err != nil || !wait {
		return 0, err
	}
	var list v1alpha1.ReplicationExperimentList
	if err := t.experiments.List(ctx, &list); err != nil {
		return 0, err
	}
	n := 0
	for i := range list.Items {
		if goesFirst(&list.Items[i], x) {
			n++
		}
	}
	return n, nil
}

func (t *turns) oneAtATime(ctx context.Context) (bool, error) {
	switch t.policy {
	case wire.OneAtATimeAlways:
		return true, nil
	case wire.OneAtATimeNever:
		return false, nil
	}
	several, err := cluster.SeveralMachines(ctx, t.direct)
	if apierrors.IsForbidden(err) {
		return true, nil // an operator of some namespaces alone: there may be one machine only
	}
	return !several, err
}

func goesFirst(other, x *v1alpha1.ReplicationExperiment) bool {
	switch {
	case other.UID == x.UID, !other.DeletionTimestamp.IsZero(), isTrue(other.Status.Conditions, v1alpha1.ConditionComplete):
		return false
	case other.Status.StartTime != nil:
		return true
	case other.Spec.Suspend:
		return false
	case other.CreationTimestamp.Equal(&x.CreationTimestamp):
		return other.Namespace+"/"+other.Name < x.Namespace+"/"+x.Name
	default:
		return other.CreationTimestamp.Before(&x.CreationTimestamp)
	}
}
