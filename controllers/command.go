// Package controllers is the operator: its command, and how its parts are put together.
package controllers

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
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

	"replab.dev/api/v1alpha1"
	"replab.dev/controllers/cached"
	"replab.dev/controllers/experiment"
	"replab.dev/controllers/experiment/leftovers"
	"replab.dev/controllers/metrics"
	"replab.dev/controllers/suite"
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
		Scheme: scheme, Metrics: metrics.Options(cfg), Cache: experiments.Options(cfg.WatchNamespaces),
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

// setup adds the reconcilers to a manager. Experiments and suites alone are cached and watched: everything else is read when it is
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
	r := &experiment.Reconciler{
		Client: known{experiments, mgr.GetClient()}, Cluster: &cluster.Cluster{Client: direct, Core: core}, Processes: processes{cluster.NewProcesses()},
		Config: cfg, Namespace: namespace, Identity: identity(cmp.Or(namespace, hostname), cfg.Name), Servers: b.Servers, Version: b.Version, Events: mgr.GetEventRecorder("replab"), Now: time.Now,
	}
	turns := &turns{experiments: experiments, direct: direct, policy: cfg.OneAtATime, now: time.Now}
	r.Turns = turns.ahead
	if err := metrics.Register(experiments, mgr.GetClient(), mgr.Elected()); err != nil {
		return err
	}
	if err := ctrl.NewControllerManagedBy(mgr).
		For(cached.Kind(), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WatchesRawSource(leftovers.Source(direct, cfg.WatchNamespaces)).
		WithOptions(options(cfg)).
		Complete(r); err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(mgr).
		For(&v1alpha1.ReplicationSuite{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Owns(cached.Kind()).
		WithOptions(options(cfg)).
		Complete(&suite.Reconciler{
			Client: mgr.GetClient(), Experiments: experiments, Cluster: r.Cluster, Writer: direct, Servers: experiment.Rules(b.Servers), Events: r.Events, Now: r.Now,
		})
}

// options of the controller.
func options(cfg wire.OperatorConfig) controller.Options {
	return controller.Options{
		MaxConcurrentReconciles: cmp.Or(cfg.Workers, wire.DefaultWorkers),
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[ctrl.Request](retryLeast, retryMost),
	}
}
