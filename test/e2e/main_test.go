//go:build e2e

// Package e2e runs the experiments that people apply on the cluster of KUBECONFIG, where the operator is installed, and
// checks what the status claims against the databases themselves, by SQL of its own.
//
// There are two tiers: a short run for each topology and most behaviours, and with E2E_FULL all of them, the experiments as people apply them. Runs
// whose figures count have the cluster for themselves until they are complete. The others go side by side, if the operator lets them
// (oneAtATime: Never).
package e2e

import (
	"context"
	"fmt"
	"os"
	"testing"

	"sigs.k8s.io/e2e-framework/pkg/env"
	"sigs.k8s.io/e2e-framework/pkg/envconf"
	"sigs.k8s.io/e2e-framework/pkg/envfuncs"

	"replab.dev/api/v1alpha1"
)

var testenv env.Environment

// full is the tier.
var full = os.Getenv("E2E_FULL") != ""

// inFull skips a test in the short tier, which has time for one run of each behaviour. Failovers by Patroni take half a minute each, until the
// leader's lock is over.
func inFull(t *testing.T) {
	t.Helper()
	if os.Getenv("E2E_FULL") == "" {
		t.Skip("E2E_FULL is not set, and the short tier has no time for it")
	}
}

// namespace of the runs; "e2e" and something random.
var namespace = envconf.RandomName("e2e", 10)

func TestMain(m *testing.M) {
	cfg, err := envconf.NewFromFlags()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if os.Getenv("KUBECONFIG") != "" {
		cfg.WithKubeconfigFile(os.Getenv("KUBECONFIG"))
	}
	client, err := cfg.NewClient()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	cfg.WithClient(client) // else each look makes a client of its own, which first asks for all kinds that are served
	if err := v1alpha1.AddToScheme(client.Resources().GetScheme()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	testenv = env.NewWithConfig(cfg)
	testenv.Setup(envfuncs.CreateNamespace(namespace), func(ctx context.Context, cfg *envconf.Config) (context.Context, error) {
		return ctx, measureRoom(ctx, cfg)
	})
	testenv.Finish(envfuncs.DeleteNamespace(namespace))
	code := testenv.Run(m)
	fmt.Printf("Where the time of the runs went, in seconds:\n%s", where())
	os.Exit(code)
}
