// Package provisioner makes the cluster's volumes: one directory each, which every
// user may write. The provisioner inside kube-controller-manager makes
// directories that only root may enter, and Kubernetes does not change the group
// of host paths, so pods that keep to the restricted standard could not use them.
package provisioner

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/sig-storage-lib-external-provisioner/v13/controller"
)

// name is what the StorageClass asks for.
const name = "replab.dev/directory"

// Main is the process: it serves until it is told to end.
func Main() {
	root := flag.String("root", "", "the folder that receives one folder per volume")
	node := flag.String("node", "", "the one node to serve")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, &directories{root: *root, node: *node}); err != nil {
		fmt.Fprintln(os.Stderr, "provisioner:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, d *directories) error {
	config, err := rest.InClusterConfig()
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	pc := controller.NewProvisionController(ctx, client, name, d,
		controller.LeaderElection(false),
		controller.ResyncPeriod(15*time.Minute),
	)
	pc.Run(ctx)
	return nil
}
