// Package plugin is `kubectl replab`: the commands that run, watch and report experiments. It shows figures of the status, the results and the
// recorder, and computes none itself.
package plugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/klog/v2"

	"replab.dev/api/v1alpha1"
	"replab.dev/api/v1alpha1/validation"
	"replab.dev/internal/plain"
	"replab.dev/internal/plugin/screen"
	"replab.dev/internal/report/terminal"
)

// completer is the name under which kubectl asks a plugin to complete its arguments: a link to the plugin is enough.
const completer = "kubectl_complete-replab"

// Options are what all commands share.
type Options struct {
	genericiooptions.IOStreams // what is written is kept plain
	Config                     *genericclioptions.ConfigFlags
	Version                    string
	// Servers check the parameters of each engine.
	Servers validation.Servers

	drawn io.Writer     // the standard output as it is, for what the plugin itself draws
	look  time.Duration // between two looks at a run; 0 is the default
	alone time.Duration // how long a run is followed that no operator looks at; 0 is the default
}

// Main carries out a command line and returns the exit code. Its first word is the name of the program.
func Main(version string, servers validation.Servers, args []string, streams genericiooptions.IOStreams) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)   // a second Ctrl-C ends what ignores the first, such as reading standard input
	klog.SetLogger(logr.Discard()) // the library logs answers that broke off
	if filepath.Base(args[0]) == completer {
		args = append([]string{args[0], cobra.ShellCompRequestCmd}, args[1:]...)
	}
	return Execute(ctx, version, servers, args[1:], streams)
}

// Execute carries out arguments and returns the exit code.
func Execute(ctx context.Context, version string, servers validation.Servers, args []string, streams genericiooptions.IOStreams) int {
	return execute(ctx, &Options{IOStreams: streams, Version: version, Servers: servers}, args)
}

func execute(ctx context.Context, o *Options, args []string) int {
	o.drawn, o.Out, o.ErrOut = o.Out, output(o.Out), plain.Writer(o.ErrOut)
	root := o.command()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return ExitOK
	}
	var ended exit
	if errors.As(err, &ended) {
		return int(ended)
	}
	fmt.Fprintln(o.ErrOut, "error:", plain.Line(err.Error()))
	if ctx.Err() != nil {
		return ExitInterrupted
	}
	return ExitNotRun
}

// output is a writer whose texts are kept plain, and laid out for its columns if it is a terminal.
func output(w io.Writer) io.Writer {
	file, isFile := w.(*os.File)
	if !isFile || !term.IsTerminal(file.Fd()) {
		return plain.Writer(w)
	}
	columns, _, err := term.GetSize(file.Fd())
	if err != nil || columns <= 0 {
		columns = screen.WidthUnknown
	}
	return terminal.Screen{Writer: plain.Writer(w), Columns: columns}
}

// Command is the whole command line.
func Command(version string, streams genericiooptions.IOStreams) *cobra.Command {
	return (&Options{IOStreams: streams, Version: version}).command()
}

func (o *Options) command() *cobra.Command {
	o.Config = genericclioptions.NewConfigFlags(true)
	root := &cobra.Command{
		Use:   "kubectl-replab",
		Short: "Run experiments on database replication, watch them, and read their results",
		Long: `Run experiments on database replication, watch them, and read their results.

Exit codes: 0 done, of run and watch: passed; 1 failed, of doctor: the cluster is not fit, of check: refused; 2 inconclusive or invalid; 3 it could not be
carried out; 130 interrupted: a run that was begun goes on.`,
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl replab"},
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetIn(o.In)
	root.SetOut(o.Out)
	root.SetErr(o.ErrOut)
	o.Config.AddFlags(root.PersistentFlags())
	root.AddCommand(
		checkCommand(o), runCommand(o), watchCommand(o), listCommand(o), describeCommand(o), logsCommand(o), abortCommand(o),
		reportCommand(o), compareCommand(o), exportCommand(o), doctorCommand(o), versionCommand(o),
	)
	return root
}

// Exit codes.
const (
	ExitOK          = 0   // done; of run and watch: the experiment has passed
	ExitFailed      = 1   // a goal was not met; of doctor: the cluster is not fit; of check: an experiment is refused
	ExitUnknown     = 2   // inconclusive or invalid
	ExitNotRun      = 3   // could not be carried out, or the operator refused it
	ExitInterrupted = 130 // ended by SIGINT, as in shells: the run goes on
)

// exit is an exit code without a message: the command has printed what there is to know.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// worse of two exit codes: a missed goal must not hide behind a run that could not be measured.
func worse(a, b int) int {
	order := []int{ExitOK, ExitUnknown, ExitFailed, ExitNotRun}
	return order[max(slices.Index(order, a), slices.Index(order, b))]
}

// exitOf an experiment that is over. An experiment that was not accepted was not run.
func exitOf(x *v1alpha1.ReplicationExperiment) int {
	return exitOfVerdict(x.Status.Conditions, x.Status.Verdict)
}

func exitOfVerdict(conditions []metav1.Condition, verdict v1alpha1.Verdict) int {
	switch {
	case !meta.IsStatusConditionTrue(conditions, v1alpha1.ConditionAccepted):
		return ExitNotRun
	case verdict == v1alpha1.VerdictPassed:
		return ExitOK
	case verdict == v1alpha1.VerdictFailed:
		return ExitFailed
	}
	return ExitUnknown
}

func versionCommand(o *Options) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the plugin's version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(o.Out, "kubectl-replab %s %s %s/%s\n", o.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}
