// Command seeds prints the tables of a seed document beside what the experiments that reproduce it have measured, on the cluster of
// KUBECONFIG: `go run ./hack/seeds 001` (or 004), or with a namespace other than default behind it.
package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/internal/results"
	"replab.dev/internal/runs"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := show(ctx, os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "seeds:", err)
		os.Exit(1)
	}
}

// seed is a document, and the experiments that reproduce it.
type seed struct {
	experiments []string
	// text is its tables beside what the experiments have measured, by their names. One that was not made is not among them.
	text func(made map[string]results.Results) string
}

var documents = map[string]seed{
	"001": {experimentsOf001(), text001},
	"004": {experimentsOf004(), text004},
}

func show(ctx context.Context, out io.Writer, args []string) error {
	known := strings.Join(slices.Sorted(maps.Keys(documents)), " or ")
	if len(args) == 0 || len(args) > 2 {
		return fmt.Errorf("name a seed, %s, and the namespace of its experiments if that is not default", known)
	}
	s, ok := documents[args[0]]
	if !ok {
		return fmt.Errorf("seed %s is reproduced by no experiment: name %s", args[0], known)
	}
	namespace := "default"
	if len(args) == 2 {
		namespace = args[1]
	}
	cluster, err := runs.Connect(0)
	if err != nil {
		return err
	}
	made := map[string]results.Results{}
	for _, name := range s.experiments {
		document, err := cluster.Results(ctx, client.ObjectKey{Namespace: namespace, Name: name})
		if err != nil {
			return err
		}
		if document != nil {
			made[name] = *document
		}
	}
	fmt.Fprint(out, s.text(made))
	return nil
}
