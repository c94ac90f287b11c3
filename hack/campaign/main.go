// Command campaign applies one experiment again and again on the cluster of KUBECONFIG, and says what came of the runs:
// `go run ./hack/campaign -count 10 experiments/semisync.yaml`. It may be stopped and started again: it goes on behind the last run
// that it has written down. It exits with 2 when a run is Invalid, came to no end, or is Inconclusive without a reason.
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
	"syscall"
	"time"

	"replab.dev/internal/runs"
)

// options of a campaign.
type options struct {
	file      string // of the experiment
	beside    string // of the one that it is compared with, "" where there is none
	count     int
	namespace string
	out       string // folder of what is written down
	keep      int    // runs whose objects stay
	limit     time.Duration
	draw      draw
}

const look = time.Second

var errUnsound = errors.New("there are runs that are Invalid, have no end, or are Inconclusive without a reason")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "campaign:", err)
		if errors.Is(err, errUnsound) {
			os.Exit(2)
		}
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, args []string) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	s, err := readSubject(o)
	if err != nil {
		return err
	}
	dir := filepath.Join(o.out, s.name())
	if o.draw.Seed == 0 {
		o.draw.Seed = seedOf(dir)
	}
	b, err := openBook(dir, charterOf(s, o))
	if err != nil {
		return err
	}
	defer b.close()
	cluster, err := runs.Connect(look)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, b.opening(o))
	err = carryOut(ctx, out, runner{cluster: cluster, limit: o.limit, keep: o.keep, id: b.ID}, b, s, o)
	fmt.Fprintf(out, "\n%s", sum(b.runs))
	if s.beside != nil {
		fmt.Fprintf(out, "\n%s", compare(b.runs, s, o))
	}
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("stopped after %d of %d runs: start it again with the same arguments to go on", len(b.runs), len(s.tasks(o)))
	case err != nil:
		return err
	case unsound(b.runs):
		return errUnsound
	}
	return nil
}

func parse(args []string) (options, error) {
	var o options
	f := flag.NewFlagSet("campaign", flag.ContinueOnError)
	f.IntVar(&o.count, "count", 10, "how many runs; with -beside, pairs of runs")
	f.StringVar(&o.namespace, "namespace", "default", "where the experiments are made")
	f.StringVar(&o.out, "out", "campaigns", "folder for what is written down: a folder in it for the experiment, with the results of each run")
	f.IntVar(&o.keep, "keep", 3, "of how many runs that did not pass, or lost writes, the databases stay in the cluster; those that tell most")
	f.DurationVar(&o.limit, "limit", 20*time.Minute, "the longest that one run may take; then it is aborted")
	f.StringVar(&o.beside, "beside", "", "another experiment: each run of the topology of the first, under this one's load, has a run of this one "+
		"for a partner, in random order")
	actions := f.String("faults", "", "draw the faults of each run instead of those of the experiment: any of Kill, KillServer (of Patroni's), Pause and Partition, by commas")
	members := f.String("members", "1", "how many nodes a drawn fault hits at the same moment, one of these numbers, by commas")
	from := f.String("partition-from", "", "whom a drawn Partition cuts its nodes off from, one of these, by commas: any of Peers, Clients, Everyone and (of Patroni's) Store. Without it Everyone")
	f.Int64Var(&o.draw.Shortest, "shortest", 0, "for how many seconds a drawn fault holds at least. 0: 1")
	f.Int64Var(&o.draw.Longest, "longest", 0, "and at most. 0: 10. Where a leader's lock outlives it, such as Patroni's with its ttl, a shorter hold is an outage and no failover")
	f.IntVar(&o.draw.Faults, "draws", 1, "how many drawn faults a run has, one after the other")
	f.BoolVar(&o.draw.During, "during-partitions", false, "each drawn fault comes while a partition holds, which is drawn too")
	f.Int64Var(&o.draw.After, "during-after", 7, "how many seconds after the beginning of such a partition the fault comes, at least; it comes 2 s before "+
		"its end at least. A group that is cut acknowledges nothing until it has given up the others, Galera by default for 5 s: a fault before proves little")
	f.Int64Var(&o.draw.Rest, "rest", 15, "seconds from the end of a drawn fault to the next, and that the load goes on after the last")
	f.BoolVar(&o.draw.Fit, "fit", false, "make the last stage as long as the faults need, so that a run takes no longer")
	f.Int64Var(&o.draw.Seed, "seed", 0, "of what is drawn: the same seed draws the same. 0: that of the runs which were made, else one by chance")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() != 1 || o.count < 1 || o.keep < 0 {
		return o, errors.New("name one file with an experiment, such as experiments/semisync.yaml, a -count of at least 1 and a -keep of at least 0")
	}
	o.file = f.Arg(0)
	if o.beside != "" && *actions != "" {
		return o, errors.New("-beside compares what topologies cost, and -faults asks what they lose: use one of them")
	}
	return o, o.draw.set(*actions, *members, *from)
}
