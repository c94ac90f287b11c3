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

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/report/table"
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
	asked, err := read(args[0])
	if err != nil {
		return err
	}
	cluster, err := connect()
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

// read keeps the file as it was written: a field that the Go type would send as 0 is one that the API server sets.
func read(file string) (*unstructured.Unstructured, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the experiment: %w", err)
	}
	experiment := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(text, &experiment.Object); err != nil {
		return nil, fmt.Errorf("read the experiment %s: %w", file, err)
	}
	if experiment.GetNamespace() == "" {
		experiment.SetNamespace("default")
	}
	return experiment, nil
}

func connect() (client.Client, error) {
	ctrl.SetLogger(logr.Discard()) // the library's own log is not for people
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
func replace(ctx context.Context, out io.Writer, cluster client.Client, asked *unstructured.Unstructured) error {
	old := asked.DeepCopy()
	err := cluster.Delete(ctx, old, client.PropagationPolicy(metav1.DeletePropagationForeground))
	if err == nil {
		fmt.Fprintf(out, "Removing the older experiment %s and its objects.\n", asked.GetName())
	}
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("remove the older experiment %s: %w", asked.GetName(), err)
	}
	err = wait.PollUntilContextTimeout(ctx, look, removal, true, func(ctx context.Context) (bool, error) {
		err := cluster.Get(ctx, client.ObjectKeyFromObject(asked), old)
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	})
	if err != nil {
		return fmt.Errorf("wait until the older experiment %s is gone: %w", asked.GetName(), err)
	}
	if err := cluster.Create(ctx, asked, client.FieldValidation(metav1.FieldValidationStrict)); err != nil {
		return fmt.Errorf("create experiment %s: %w", asked.GetName(), err)
	}
	return nil
}

// follow prints each change of the experiment's progress until it is complete, and returns it as it then is.
func follow(ctx context.Context, out io.Writer, cluster client.Client, name client.ObjectKey) (*v1alpha1.ReplicationExperiment, error) {
	began, shown := time.Now(), ""
	var experiment *v1alpha1.ReplicationExperiment
	err := wait.PollUntilContextTimeout(ctx, look, limit, true, func(ctx context.Context) (bool, error) {
		experiment = &v1alpha1.ReplicationExperiment{} // a used one would keep what the next answer lacks
		if err := cluster.Get(ctx, name, experiment); err != nil {
			return false, err
		}
		if now := table.Progress(experiment); now != shown {
			shown = now
			fmt.Fprintf(out, "%4d s  %s\n", int(time.Since(began).Seconds()), now)
		}
		return meta.IsStatusConditionTrue(experiment.Status.Conditions, v1alpha1.ConditionComplete), nil
	})
	if err != nil {
		return nil, fmt.Errorf("wait for the end of experiment %s, which is at %q: %w", name.Name, shown, err)
	}
	return experiment, nil
}
