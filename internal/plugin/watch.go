package plugin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/plugin/follow"
	"replab.dev/internal/plugin/screen"
	"replab.dev/internal/report/table"
)

// followLimit is how long a run is followed where nobody says: longer than any may take.
const followLimit = 30 * 24 * time.Hour

// display is how a run is shown.
type display struct {
	plain   bool
	timeout time.Duration
}

func (d *display) addFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&d.plain, "plain", false, "one line per event also in a terminal")
	cmd.Flags().DurationVar(&d.timeout, "timeout", followLimit, "how long each run is followed; it goes on when that is over, and the exit code is 3; 0 does not look at all")
}

func watchCommand(o *Options) *cobra.Command {
	var d display
	cmd := &cobra.Command{
		Use:   "watch NAME",
		Short: "Show a run live until its verdict",
		Long: `Show a run live until its verdict: its steps, the stage of the load, requests per second, p99, replication lag and faults as they happen.
Ctrl-C leaves the run going. The exit code is that of run.`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: o.completeNames(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := o.Connect()
			if err != nil {
				return err
			}
			x, err := c.Experiment(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			code, err := o.follow(cmd.Context(), c, args[0], x.UID, d)
			if err != nil {
				return err
			}
			return ending(code)
		},
	}
	d.addFlags(cmd)
	return cmd
}

func ending(code int) error {
	if code == ExitOK {
		return nil
	}
	return exit(code)
}

// follow shows the run with a UID until its verdict, and returns the exit code that this means.
func (o *Options) follow(ctx context.Context, c Cluster, name string, uid types.UID, d display) (int, error) {
	key := client.ObjectKey{Namespace: c.Namespace, Name: name}
	w := &watcher{cluster: c, name: key, uid: uid, limit: d.timeout, now: time.Now}
	begun := time.Now()
	var x *v1alpha1.ReplicationExperiment
	var err error
	if d.plain || !o.terminal() {
		x, err = o.lines(ctx, w)
	} else {
		x, err = o.screen(ctx, w)
	}
	back := fmt.Sprintf("`kubectl replab watch %s -n %s` comes back to it", name, c.Namespace)
	switch {
	case errors.Is(err, context.Canceled):
		fmt.Fprintf(o.ErrOut, "\nExperiment %s goes on. Come back: kubectl replab watch %s -n %s; end it: kubectl replab abort %s -n %s\n", name, name, c.Namespace, name, c.Namespace)
		return ExitInterrupted, nil
	case apierrors.IsNotFound(err) && x != nil && x.Status.Verdict != "": // it removes itself as soon as it is over
	case apierrors.IsNotFound(err):
		return ExitNotRun, fmt.Errorf("experiment %s was deleted before its verdict was seen: nothing is left of it", name)
	case errors.Is(err, context.DeadlineExceeded) && time.Since(begun) >= d.timeout:
		return ExitNotRun, fmt.Errorf("experiment %s is still at %s after %s: %s", name, stands(x), d.timeout, back)
	case err != nil:
		return ExitNotRun, fmt.Errorf("%w; the run may go on: %s", err, back)
	}
	fmt.Fprintf(o.Out, "\n%s", table.Result(x))
	return exitOf(x), nil
}

// stands tells where a run does, of which maybe nothing was seen.
func stands(x *v1alpha1.ReplicationExperiment) string {
	if x == nil {
		return "a place that nobody has seen"
	}
	return table.Progress(x)
}

// lines tells of a run line by line.
func (o *Options) lines(ctx context.Context, w *watcher) (*v1alpha1.ReplicationExperiment, error) {
	events := follow.Events{Figures: true}
	return w.follow(ctx, func(v follow.View) {
		for _, line := range events.Next(v) {
			fmt.Fprintf(o.Out, "%5d s  %s\n", int(v.Age.Seconds()), line)
		}
	})
}

// screen draws a run in the terminal.
func (o *Options) screen(ctx context.Context, w *watcher) (*v1alpha1.ReplicationExperiment, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	program := tea.NewProgram(screen.Model{}, tea.WithContext(ctx), tea.WithInput(o.In), tea.WithOutput(o.Out), tea.WithoutSignalHandler())
	type end struct {
		experiment *v1alpha1.ReplicationExperiment
		err        error
	}
	ended := make(chan end, 1)
	go func() {
		x, err := w.follow(ctx, func(v follow.View) { program.Send(screen.Seen{View: v}) })
		ended <- end{x, err}
		program.Send(screen.Ended{})
	}()
	last, err := program.Run()
	if m, ok := last.(screen.Model); ok && m.Interrupted {
		stop()
	}
	if err != nil && ctx.Err() == nil {
		return nil, fmt.Errorf("draw in the terminal: %w; --plain tells it in lines", err)
	}
	e := <-ended
	return e.experiment, e.err
}

// terminal tells whether there is somebody to draw for.
func (o *Options) terminal() bool {
	out, isFile := o.Out.(*os.File)
	in, inIsFile := o.In.(*os.File)
	return isFile && inIsFile && term.IsTerminal(out.Fd()) && term.IsTerminal(in.Fd()) && os.Getenv("TERM") != "dumb"
}
