//go:build e2e

// Package e2e runs the experiments that people apply on the cluster of KUBECONFIG, where the operator is installed, and
// checks what the status claims against the databases themselves, by SQL of its own.
package e2e

import (
	"fmt"
	"os"
	"testing"

	"sigs.k8s.io/e2e-framework/pkg/env"
	"sigs.k8s.io/e2e-framework/pkg/envconf"
	"sigs.k8s.io/e2e-framework/pkg/envfuncs"

	"replab.dev/api/v1alpha1"
)

var testenv env.Environment

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
	if err := v1alpha1.AddToScheme(cfg.Client().Resources().GetScheme()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	testenv = env.NewWithConfig(cfg)
	testenv.Setup(envfuncs.CreateNamespace(namespace))
	testenv.Finish(envfuncs.DeleteNamespace(namespace))
	os.Exit(testenv.Run(m))
}
