package director

import (
	"context"
	"errors"
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

// validate names everything in a configuration that the director could not work with.
func validate(cfg wire.DirectorConfig) error {
	var problems []error
	refuse := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	for field, value := range map[string]int64{
		"probeMilliseconds": cfg.ProbeMilliseconds, "timeoutMilliseconds": cfg.TimeoutMilliseconds,
		"failureThreshold": int64(cfg.FailureThreshold), "leaseMilliseconds": cfg.LeaseMilliseconds,
		"catchUpMilliseconds": cfg.CatchUpMilliseconds, "rejoinMaxMilliseconds": cfg.RejoinMaxMilliseconds,
	} {
		if value <= 0 {
			refuse("%s is %d and must be above 0", field, value)
		}
	}
	if least := cfg.ProbeMilliseconds + cfg.TimeoutMilliseconds; cfg.LeaseMilliseconds > 0 && cfg.LeaseMilliseconds < least {
		refuse("leaseMilliseconds is %d: one look that takes its whole time would outlast it; at least %d (probeMilliseconds + timeoutMilliseconds)",
			cfg.LeaseMilliseconds, least)
	}
	if cfg.Port <= 0 {
		refuse("port is %d; name the port of the nodes' servers", cfg.Port)
	}
	if len(cfg.Nodes) == 0 {
		refuse("nodes is empty; name at least one")
	}
	names := map[string]bool{}
	for _, n := range cfg.Nodes {
		if n.Name == "" || n.Host == "" || names[n.Name] {
			refuse("node %q at %q: every node needs a host and a name of its own", n.Name, n.Host)
		}
		names[n.Name] = true
	}
	if s := cfg.SemiSync; s != nil && (s.AckReplicas < 1 || s.AckReplicas >= len(cfg.Nodes)) {
		refuse("semiSync.ackReplicas is %d; with %d nodes it must be 1 to %d", s.AckReplicas, len(cfg.Nodes), len(cfg.Nodes)-1)
	}
	return errors.Join(problems...)
}
