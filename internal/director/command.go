package director

import (
	"context"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"replab.dev/internal/director/publish"
	"replab.dev/internal/engine"
	"replab.dev/internal/metrics"
	"replab.dev/internal/process"
	"replab.dev/internal/wire"
)

// Command returns the subcommand `replab director --config FILE`; the file holds a wire.DirectorConfig.
func Command(engines engine.Lookup[engine.OpenAdmin]) *cobra.Command {
	return process.Command("director", "Manage replication and failover of an experiment's nodes", func(ctx context.Context, cfg wire.DirectorConfig) error {
		return run(ctx, cfg, engines)
	})
}

func run(ctx context.Context, cfg wire.DirectorConfig, engines engine.Lookup[engine.OpenAdmin]) error {
	if err := validate(cfg); err != nil {
		return fmt.Errorf("director's configuration: %w", err)
	}
	open, err := engines.For(cfg.Engine)
	if err != nil {
		return fmt.Errorf("director's configuration: %w", err)
	}
	s, err := readSecrets(cfg.SecretDir)
	if err != nil {
		return err
	}
	kubernetes, err := inCluster()
	if err != nil {
		return fmt.Errorf("reach the API server for ConfigMap %s/%s: %w", cfg.Namespace, cfg.StateMap, err)
	}
	nodes, err := newCluster(cfg, addresses(cfg), s, open)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	want := func(wire.DirectorState) {}
	if cfg.LabelPods {
		l := publish.NewLabels(kubernetes.Pods(cfg.Namespace))
		want = l.Want
		group.Go(func() error { l.Run(ctx); return nil })
	}
	state := publish.NewState(kubernetes.ConfigMaps(cfg.Namespace), cfg.StateMap)
	d := newDirector(cfg, nodes, state, want)
	group.Go(func() error { nodes.run(ctx); return nil })
	group.Go(func() error { return d.Run(ctx) })
	group.Go(func() error { metrics.Serve(ctx, showing(d.State)); return nil })
	group.Go(func() error {
		return process.Serve(ctx, &http.Server{Addr: cfg.Listen, Handler: handler(d, s.token)})
	})
	return group.Wait()
}

// inCluster reaches the API server with the pod's ServiceAccount, which needs get and patch on the one ConfigMap and,
// to label them, patch on the nodes' pods.
func inCluster() (*corev1.CoreV1Client, error) {
	cfg, err := rest.InClusterConfig()
	if err != nil {
		return nil, err
	}
	cfg.QPS, cfg.Burst = 50, 100 // the default would make the writes of a failover wait
	return corev1.NewForConfig(cfg)
}

// validate refuses what would falsify figures, or could never work: `plan` alone writes the configuration.
func validate(cfg wire.DirectorConfig) error {
	if cfg.ProbeMilliseconds <= 0 || cfg.TimeoutMilliseconds <= 0 || cfg.FailureThreshold <= 0 {
		return fmt.Errorf("probeMilliseconds is %d, timeoutMilliseconds %d and failureThreshold %d: each must be above 0",
			cfg.ProbeMilliseconds, cfg.TimeoutMilliseconds, cfg.FailureThreshold)
	}
	if least := cfg.ProbeMilliseconds + cfg.TimeoutMilliseconds; cfg.LeaseMilliseconds < least {
		return fmt.Errorf("leaseMilliseconds is %d: one look that takes its whole time would outlast it; at least %d (probeMilliseconds + timeoutMilliseconds)",
			cfg.LeaseMilliseconds, least)
	}
	if s := cfg.SemiSync; s != nil && (s.AckReplicas < 1 || s.AckReplicas >= len(cfg.Nodes)) {
		return fmt.Errorf("semiSync.ackReplicas is %d; with %d nodes it must be 1 to %d", s.AckReplicas, len(cfg.Nodes), len(cfg.Nodes)-1)
	}
	return nil
}
