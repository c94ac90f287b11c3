// Package plugin is `kubectl replab`: the commands by which people run experiments, watch them and read what came of them. It shows what
// the status, the results and the recorder say, and works no figure out itself.
package plugin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/klog/v2"

	"replab.dev/api/v1alpha1/validation"
	"replab.dev/internal/report/table"
)

// completer is the name under which kubectl asks a plugin to complete its arguments: a link to the plugin is enough.
const completer = "kubectl_complete-replab"

// Options are what all commands share.
type Options struct {
	genericiooptions.IOStreams
	Config  *genericclioptions.ConfigFlags
	Version string
	// Servers say what each engine makes of an experiment's parameters.
	Servers validation.Servers

	look time.Duration // between two looks at a run; 0: as people want it
}

// Main carries a command line out, whose first word is the program's name, and returns the exit code.
func Main(version string, servers validation.Servers, args []string, streams genericiooptions.IOStreams) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)   // a second Ctrl-C ends what does not look at the first, such as the reading of standard input
	klog.SetLogger(logr.Discard()) // what the library writes of an answer that was broken off is not for people
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
	fmt.Fprintln(o.ErrOut, "error:", table.Harmless(err.Error()))
	if ctx.Err() != nil {
		return ExitInterrupted
	}
	return ExitNotRun
}

// Command is the whole command line.
func Command(version string, streams genericiooptions.IOStreams) *cobra.Command {
	return (&Options{IOStreams: streams, Version: version}).command()
}

func (o *Options) command() *cobra.Command {
	o.Config = genericclioptions.NewConfigFlags(true)
	root := &cobra.Command{
		Use:   "kubectl-replab",
		Short: "Run experiments on database replication, watch them, and read what came of them",
		Long: `Run experiments on database replication, watch them, and read what came of them.

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
		reportCommand(o), compareCommand(o), doctorCommand(o), versionCommand(o),
	)
	return root
}
