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

// validate refuses a lease during which one look may end too late. Then two nodes could take writes.
func validate(cfg wire.DirectorConfig) error {
	if least := cfg.ProbeMilliseconds + cfg.TimeoutMilliseconds; cfg.LeaseMilliseconds < least {
		return fmt.Errorf("leaseMilliseconds is %d, want at least %d (probeMilliseconds + timeoutMilliseconds)", cfg.LeaseMilliseconds, least)
	}
	return nil
}
