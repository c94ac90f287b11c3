package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/plugin/follow"
	"replab.dev/internal/plugin/screen"
	"replab.dev/internal/report/progress"
	"replab.dev/internal/report/remedy"
	"replab.dev/internal/report/summary"
	"replab.dev/internal/runs"
	"replab.dev/internal/wire"
)

// followLimit is the default of --timeout: longer than any run may take.
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
		Short: "Show a run or a suite live until its verdict",
		Long: `Show a run live until its verdict: its steps, the stage of the load, requests per second, p99, replication lag and faults as they happen. Of a
suite each trial is shown as it begins and ends. Where a suite and an experiment have the same name, write suite/NAME or experiment/NAME.
Ctrl-C leaves the run going. The exit code is that of run.`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: o.completeNames(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := o.Connect()
			if err != nil {
				return err
			}
			x, s, err := c.find(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			var end conclusion
			if s != nil {
				end, err = o.followSuite(cmd.Context(), c, s.Name, s.UID, d)
			} else {
				end, err = o.follow(cmd.Context(), c, x.Name, x.UID, d)
			}
			if err != nil {
				return err
			}
			return ending(end.code)
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

// follow shows the run with a UID until its verdict.
func (o *Options) follow(ctx context.Context, c Cluster, name string, uid types.UID, d display) (conclusion, error) {
	key := client.ObjectKey{Namespace: c.Namespace, Name: name}
	w := &watcher{cluster: c, name: key, uid: uid, limit: d.timeout, alone: o.patience(), now: time.Now}
	begun := time.Now()
	var x *v1alpha1.ReplicationExperiment
	var err error
	if d.plain || !o.terminal() {
		x, err = o.lines(ctx, w)
	} else {
		x, err = o.screen(ctx, w)
	}
	of := followed{noun: experimentNoun, argument: name, name: key, after: d.timeout, step: "is still at " + stands(x), unseen: x != nil && !x.Attended()}
	of.over = x != nil && x.Status.Verdict != ""
	if code, err := o.left(of, err, time.Since(begun)); code != ExitOK {
		return conclusion{code: code}, err
	}
	fmt.Fprintln(o.Out)
	summary.Write(o.Out, x)
	o.next(remedy.Experiment(x, time.Now()))
	return conclusion{code: exitOf(x), experiment: x}, nil
}

// followed is what was shown until it ended, or until following stopped.
type followed struct {
	noun, argument string // argument names it in commands
	name           client.ObjectKey
	over           bool // the verdict was seen
	unseen         bool // no operator has written a status
	after          time.Duration
	step           string // where it stands
}

// left tells why following stopped before the verdict. The code is ExitOK where the verdict was seen.
func (o *Options) left(f followed, err error, took time.Duration) (code int, _ error) {
	command := func(verb string) string {
		return fmt.Sprintf("kubectl replab %s %s -n %s", verb, f.argument, f.name.Namespace)
	}
	back := fmt.Sprintf("`%s` comes back to it", command("watch"))
	switch {
	case err == nil, apierrors.IsNotFound(err) && f.over: // its ttl removed it
		return ExitOK, nil
	case errors.Is(err, errUnattended):
		return ExitNotRun, fmt.Errorf("%s %s has not begun: no operator wrote its status for %s: kubectl replab doctor -n %s; it may begin later",
			f.noun, f.name.Name, follow.Seconds(o.patience()), f.name.Namespace)
	case errors.Is(err, context.Canceled):
		goesOn := "goes on"
		if f.unseen {
			goesOn = "waits for an operator"
		}
		fmt.Fprintf(o.ErrOut, "\n%s %s %s. Come back: %s; end it: %s\n", capital(f.noun), f.name.Name, goesOn, command("watch"), command("abort"))
		return ExitInterrupted, nil
	case apierrors.IsNotFound(err):
		return ExitNotRun, fmt.Errorf("%s %s was deleted before its verdict was seen", f.noun, f.name.Name)
	case errors.Is(err, context.DeadlineExceeded) && took >= f.after:
		return ExitNotRun, fmt.Errorf("%s %s %s after %s: %s", f.noun, f.name.Name, f.step, f.after, back)
	}
	return ExitNotRun, fmt.Errorf("%w; the %s may go on: %s", err, f.noun, back)
}

// stands is the step of a run, which may not have been seen.
func stands(x *v1alpha1.ReplicationExperiment) string {
	if x == nil {
		return "an unknown step"
	}
	return progress.Line(x)
}

// lines prints the events of a run.
func (o *Options) lines(ctx context.Context, w *watcher) (*v1alpha1.ReplicationExperiment, error) {
	events := follow.Events{Figures: true}
	return w.follow(ctx, func(v follow.View) {
		for _, event := range events.Next(v) {
			fmt.Fprint(o.Out, event.Line())
		}
	})
}

// screen draws a run in the terminal.
func (o *Options) screen(ctx context.Context, w *watcher) (*v1alpha1.ReplicationExperiment, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	program := tea.NewProgram(screen.Model{}, tea.WithContext(ctx), tea.WithInput(o.In), tea.WithOutput(o.drawn), tea.WithoutSignalHandler())
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
		return nil, fmt.Errorf("draw in the terminal: %w; --plain prints lines instead", err)
	}
	e := <-ended
	return e.experiment, e.err
}

// terminal is true if input and output are one that can be drawn in.
func (o *Options) terminal() bool {
	out, isFile := o.drawn.(*os.File)
	in, inIsFile := o.In.(*os.File)
	return isFile && inIsFile && term.IsTerminal(out.Fd()) && term.IsTerminal(in.Fd()) && os.Getenv("TERM") != "dumb"
}

const (
	// liveEach is how often the recorder is asked, and liveTimeout how long it may take.
	liveEach    = time.Second
	liveTimeout = 900 * time.Millisecond
	// liveAgain is the pause after a question without an answer.
	liveAgain = 5 * time.Second
)

// watcher reads the views of a run.
type watcher struct {
	cluster Cluster
	name    client.ObjectKey
	uid     types.UID
	limit   time.Duration
	alone   time.Duration // how long it is followed while no operator looks at it
	now     func() time.Time

	live   *wire.RecorderLive
	silent string
	due    time.Time
}

// follow calls see with each view of the run, from the first answer on.
func (w *watcher) follow(ctx context.Context, see func(follow.View)) (*v1alpha1.ReplicationExperiment, error) {
	ctx, attention := watched(ctx, w.alone)
	defer attention.leave(nil)
	x, err := runs.Follow(ctx, w.cluster.Cluster, w.name, w.uid, w.limit, func(x *v1alpha1.ReplicationExperiment, away error) {
		switch {
		case x == nil:
		case away != nil:
			see(follow.View{Experiment: x, Age: age(x, w.now()), Live: w.live, Away: away.Error()})
		default:
			see(w.view(ctx, x))
			attention.look(w.now(), x.Attended())
		}
	})
	return x, cause(ctx, err)
}

func age(x *v1alpha1.ReplicationExperiment, now time.Time) time.Duration {
	return max(now.Sub(x.CreationTimestamp.Time), 0)
}

// view of an experiment as it was just read.
func (w *watcher) view(ctx context.Context, x *v1alpha1.ReplicationExperiment) follow.View {
	now := w.now()
	if follow.UnderLoad(x) && !now.Before(w.due) {
		w.ask(ctx, now)
	}
	if !follow.UnderLoad(x) {
		w.live, w.silent = nil, ""
	}
	return follow.View{Experiment: x, Age: age(x, now), Live: w.live, Silent: w.silent}
}

func (w *watcher) ask(ctx context.Context, now time.Time) {
	limited, cancel := context.WithTimeout(ctx, liveTimeout)
	defer cancel()
	live, err := w.cluster.live(limited, w.name)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		w.silent, w.due = err.Error(), now.Add(liveAgain)
		return
	}
	w.live, w.silent, w.due = live, "", now.Add(liveEach)
}

// said is the message of the API server's own answer.
func said(text []byte) string {
	var status metav1.Status
	if json.Unmarshal(text, &status) != nil || status.Message == "" {
		return ""
	}
	return ": " + status.Message
}

// live asks an experiment's recorder through the API server.
func (c Cluster) live(ctx context.Context, experiment client.ObjectKey) (*wire.RecorderLive, error) {
	query := map[string]string{wire.RecorderLiveSeconds: strconv.Itoa(wire.RecorderLiveMost)}
	text, err := c.Kube.CoreV1().Services(experiment.Namespace).
		ProxyGet("http", experiment.Name+"-recorder", strconv.Itoa(wire.PortRecorderControl), wire.RecorderPathLive, query).DoRaw(ctx)
	switch {
	case apierrors.IsForbidden(err):
		return nil, errors.New("you may not get services/proxy in namespace " + experiment.Namespace)
	case apierrors.IsNotFound(err) && said(text) == "":
		return nil, errors.New("the recorder is older than the plugin and has none")
	case apierrors.IsServiceUnavailable(err), apierrors.IsNotFound(err):
		return nil, errors.New("the recorder does not answer the API server" + said(text))
	case errors.Is(err, context.DeadlineExceeded):
		return nil, errors.New("the recorder did not answer in time: a network policy may block the API server")
	case err != nil:
		return nil, err
	}
	live := &wire.RecorderLive{}
	if err := json.Unmarshal(text, live); err != nil {
		return nil, fmt.Errorf("read the recorder's answer: %w", err)
	}
	return live, nil
}
