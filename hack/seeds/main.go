// Command seeds prints the tables of a seed document beside what the experiments that reproduce it have measured, on the cluster of
// KUBECONFIG: `go run ./hack/seeds 001`, or with a namespace other than default behind it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/hack/internal/runs"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := show(ctx, os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "seeds:", err)
		os.Exit(1)
	}
}

func show(ctx context.Context, out io.Writer, args []string) error {
	if len(args) == 0 || len(args) > 2 || args[0] != "001" {
		return errors.New("name a seed, 001, and the namespace of its experiments if that is not default")
	}
	namespace := "default"
	if len(args) == 2 {
		namespace = args[1]
	}
	cluster, err := runs.Connect(0)
	if err != nil {
		return err
	}
	made := map[string]run{}
	for _, p := range seed001 {
		results, err := cluster.Results(ctx, client.ObjectKey{Namespace: namespace, Name: p.experiment})
		if err != nil {
			return err
		}
		if results != nil {
			made[p.experiment] = figuresOf(*results)
		}
	}
	fmt.Fprint(out, text(seed001, made))
	return nil
}
