// Command campaign applies one experiment again and again on the cluster of KUBECONFIG, and says what came of the runs:
// `go run ./hack/campaign -count 10 experiments/semisync.yaml`. It may be stopped and started again: it goes on behind the last run
// that it has written down.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// options of a campaign.
type options struct {
	file      string // of the experiment
	count     int
	namespace string
	out       string // folder of what is written down
	limit     time.Duration
	draw      draw
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "campaign:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, args []string) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	experiment, err := read(o.file, o.namespace)
	if err != nil {
		return err
	}
	cluster, err := connect()
	if err != nil {
		return err
	}
	dir := filepath.Join(o.out, experiment.GetName())
	if o.draw.any() && o.draw.Seed == 0 {
		o.draw.Seed = seedOf(dir)
	}
	b, err := openBook(dir, o.draw)
	if err != nil {
		return err
	}
	defer b.close()
	fmt.Fprintf(out, "Campaign of %d runs of %s, %d of them made. Written to %s.\n", o.count, experiment.GetName(), len(b.runs), b.dir)
	if o.draw.any() {
		fmt.Fprintf(out, "Faults are drawn with -seed %d from %s.\n", o.draw.Seed, o.draw)
	}
	err = carryOut(ctx, out, runner{cluster: cluster, limit: o.limit}, b, experiment, o)
	fmt.Fprintf(out, "\n%s", sum(b.runs))
	if ctx.Err() != nil {
		return fmt.Errorf("stopped after %d of %d runs: start it again with the same arguments to go on", len(b.runs), o.count)
	}
	return err
}

func parse(args []string) (options, error) {
	var o options
	f := flag.NewFlagSet("campaign", flag.ContinueOnError)
	f.IntVar(&o.count, "count", 10, "how many runs")
	f.StringVar(&o.namespace, "namespace", "default", "where the experiments are made")
	f.StringVar(&o.out, "out", "campaigns", "folder for what is written down: a folder in it for the experiment")
	f.DurationVar(&o.limit, "limit", 20*time.Minute, "the longest that one run may take")
	actions := f.String("faults", "", "draw the faults of each run instead of those of the experiment: any of Kill, Pause and Partition, by commas")
	members := f.String("members", "1", "how many nodes a drawn fault hits at the same moment, one of these numbers, by commas")
	f.IntVar(&o.draw.Faults, "draws", 1, "how many drawn faults a run has, one after the other")
	f.Int64Var(&o.draw.Seed, "seed", 0, "of what is drawn: the same seed draws the same. 0: that of the runs which were made, else one by chance")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() != 1 || o.count < 1 {
		return o, errors.New("name one file with an experiment, such as experiments/semisync.yaml, and a -count of at least 1")
	}
	o.file = f.Arg(0)
	return o, o.draw.set(*actions, *members)
}

// read keeps the file as it was written: a field that the Go type would send as 0 is one that the API server sets.
func read(file, namespace string) (*unstructured.Unstructured, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the experiment: %w", err)
	}
	experiment := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(text, &experiment.Object); err != nil {
		return nil, fmt.Errorf("read the experiment %s: %w", file, err)
	}
	if experiment.GetNamespace() == "" {
		experiment.SetNamespace(namespace)
	}
	return experiment, nil
}

// maxName is how long the name of an experiment may be.
const maxName = 40

// named is the experiment of one run. Each has a name of its own, so that one that is kept is in no other's way.
func named(experiment *unstructured.Unstructured, number int) *unstructured.Unstructured {
	x := experiment.DeepCopy()
	suffix := fmt.Sprintf("-%d", number)
	name := x.GetName()
	x.SetName(strings.TrimRight(name[:min(len(name), maxName-len(suffix))], "-") + suffix)
	return x
}
