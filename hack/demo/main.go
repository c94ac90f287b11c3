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

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"replab.dev/api/v1alpha1"
)

const (
	// limit is the longest that a run may take: the experiments of this repository take two to four minutes.
	limit = 15 * time.Minute
	// removal is how long the objects of an older run may take to go.
	removal = 2 * time.Minute
	look    = time.Second
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
	experiment, err := read(args[0])
	if err != nil {
		return err
	}
	cluster, err := connect()
	if err != nil {
		return err
	}
	if err := replace(ctx, out, cluster, experiment); err != nil {
		return err
	}
	if err := follow(ctx, out, cluster, experiment); err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%s", table(experiment))
	if v := experiment.Status.Verdict; v != v1alpha1.VerdictPassed && v != v1alpha1.VerdictFailed {
		return fmt.Errorf("experiment %s is %s: it found nothing out", experiment.Name, v)
	}
	return nil
}

func read(file string) (*v1alpha1.ReplicationExperiment, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the experiment: %w", err)
	}
	experiment := &v1alpha1.ReplicationExperiment{}
	if err := yaml.UnmarshalStrict(text, experiment); err != nil {
		return nil, fmt.Errorf("read the experiment %s: %w", file, err)
	}
	if experiment.Namespace == "" {
		experiment.Namespace = "default"
	}
	return experiment, nil
}

func connect() (client.Client, error) {
	config, err := ctrl.GetConfig()
	if err != nil {
		return nil, fmt.Errorf("find the cluster: %w; set KUBECONFIG", err)
	}
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	return client.New(config, client.Options{Scheme: scheme})
}

// replace creates the experiment. It runs once, so that an older one of its name has to make room.
func replace(ctx context.Context, out io.Writer, cluster client.Client, experiment *v1alpha1.ReplicationExperiment) error {
	old := experiment.DeepCopy()
	err := cluster.Delete(ctx, old, client.PropagationPolicy(metav1.DeletePropagationForeground))
	if err == nil {
		fmt.Fprintf(out, "Removing the older experiment %s and its objects.\n", experiment.Name)
	}
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("remove the older experiment %s: %w", experiment.Name, err)
	}
	err = wait.PollUntilContextTimeout(ctx, look, removal, true, func(ctx context.Context) (bool, error) {
		err := cluster.Get(ctx, client.ObjectKeyFromObject(experiment), old)
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	})
	if err != nil {
		return fmt.Errorf("wait until the older experiment %s is gone: %w", experiment.Name, err)
	}
	if err := cluster.Create(ctx, experiment); err != nil {
		return fmt.Errorf("create experiment %s: %w", experiment.Name, err)
	}
	return nil
}

// follow prints each change of the experiment's progress until it is complete, and leaves its last state in experiment.
func follow(ctx context.Context, out io.Writer, cluster client.Client, experiment *v1alpha1.ReplicationExperiment) error {
	began, shown := time.Now(), ""
	err := wait.PollUntilContextTimeout(ctx, look, limit, true, func(ctx context.Context) (bool, error) {
		if err := cluster.Get(ctx, client.ObjectKeyFromObject(experiment), experiment); err != nil {
			return false, err
		}
		if now := progress(experiment); now != shown {
			shown = now
			fmt.Fprintf(out, "%4d s  %s\n", int(time.Since(began).Seconds()), now)
		}
		return meta.IsStatusConditionTrue(experiment.Status.Conditions, v1alpha1.ConditionComplete), nil
	})
	if err != nil {
		return fmt.Errorf("wait for the end of experiment %s, which is at %q: %w", experiment.Name, shown, err)
	}
	return nil
}
