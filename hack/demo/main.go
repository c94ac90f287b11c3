// Command demo runs one experiment on the cluster of KUBECONFIG, shows how it goes on, and prints its verdict:
// `go run ./hack/demo experiments/semisync.yaml`.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/report/table"
	"replab.dev/internal/runs"
)

const (
	// limit is the longest that a run may take: the experiments of this repository take two to four minutes.
	limit = 15 * time.Minute
	// removal is how long the objects of an older run may take to go.
	removal = 2 * time.Minute
	look    = 250 * time.Millisecond
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, args []string) error {
	if len(args) != 1 {
		return errors.New("name one file with an experiment, such as experiments/semisync.yaml")
	}
	asked, err := runs.Read(args[0], "default")
	if err != nil {
		return err
	}
	cluster, err := runs.Connect(look)
	if err != nil {
		return err
	}
	if err := replace(ctx, out, cluster, asked); err != nil {
		return err
	}
	experiment, err := follow(ctx, out, cluster, client.ObjectKeyFromObject(asked))
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%s", table.Result(experiment))
	if err := addParts(os.Getenv("PARTS_FILE"), table.Steps(experiment)); err != nil {
		return err
	}
	if v := experiment.Status.Verdict; v != v1alpha1.VerdictPassed && v != v1alpha1.VerdictFailed {
		return fmt.Errorf("experiment %s is %s: it found nothing out", experiment.Name, v)
	}
	return nil
}

// addParts tells hack/parts, if that runs the demo, where the time went.
func addParts(file string, steps []table.Step) error {
	if file == "" {
		return nil
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return fmt.Errorf("tell where the time went: %w", err)
	}
	for _, s := range steps {
		if s.Seconds > 0 {
			fmt.Fprintf(f, "%d\t  %s\n", s.Seconds, s.Name)
		}
	}
	return f.Close()
}

// replace creates the experiment. It runs once, so that an older one of its name has to make room.
func replace(ctx context.Context, out io.Writer, cluster runs.Cluster, asked *unstructured.Unstructured) error {
	older, err := cluster.Delete(ctx, asked)
	if err != nil {
		return err
	}
	if older {
		fmt.Fprintf(out, "Removing the older experiment %s and its objects.\n", asked.GetName())
	}
	if err := cluster.AwaitGone(ctx, asked, removal); err != nil {
		return err
	}
	return cluster.Create(ctx, asked)
}

// follow prints each change of the experiment's progress until it is complete, and returns it as it then is.
func follow(ctx context.Context, out io.Writer, cluster runs.Cluster, name client.ObjectKey) (*v1alpha1.ReplicationExperiment, error) {
	began, shown := time.Now(), ""
	experiment, err := cluster.Follow(ctx, name, limit, func(x *v1alpha1.ReplicationExperiment) {
		if now := table.Progress(x); now != shown {
			shown = now
			fmt.Fprintf(out, "%4d s  %s\n", int(time.Since(began).Seconds()), now)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("%w; it is at %q", err, shown)
	}
	return experiment, nil
}
