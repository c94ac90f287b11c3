package plugin

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/internal/kube"
	"replab.dev/internal/plain"
)

// logs are asked for of parts of an experiment.
type logs struct {
	*Options
	options corev1.PodLogOptions
	tail    int64
}

func logsCommand(o *Options) *cobra.Command {
	l := logs{Options: o}
	parts := []string{
		kube.ComponentNode, kube.ComponentManager, kube.ComponentProxy, kube.ComponentSocial, kube.ComponentRecorder, kube.ComponentLoad,
		kube.ComponentSeed, kube.ComponentAudit, kube.ComponentOperator,
	}
	cmd := &cobra.Command{
		Use:   "logs NAME [PART...]",
		Short: "Print what the parts of an experiment have written",
		Long: `Print what the parts of an experiment have written, each line with its pod and container. Parts are ` + strings.Join(parts, ", ") + `,
or the name of a pod; without any all but the operator, of which the lines that name the experiment are printed.

Pods go with the experiment's objects: after a run that has passed none is left, unless it has keep: Always.`,
		Args: cobra.MinimumNArgs(1),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return o.completeNames(1)(cmd, args, word)
			}
			return parts, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error { return l.run(cmd.Context(), args[0], args[1:]) },
	}
	cmd.Flags().BoolVarP(&l.options.Follow, "follow", "f", false, "go on with what is written from now on")
	cmd.Flags().BoolVarP(&l.options.Previous, "previous", "p", false, "of the containers before their last restart")
	cmd.Flags().BoolVar(&l.options.Timestamps, "timestamps", false, "begin each line with its time")
	cmd.Flags().Int64Var(&l.tail, "tail", -1, "of each container the last so many lines; -1: all")
	return cmd
}

func (l *logs) run(ctx context.Context, name string, parts []string) error {
	c, err := l.Connect()
	if err != nil {
		return err
	}
	if l.tail >= 0 {
		l.options.TailLines = &l.tail
	}
	sources, err := c.sources(ctx, name, parts, l.options.Previous)
	if err != nil {
		return err
	}
	if len(sources) == 0 {
		if _, err := c.Experiment(ctx, name); err != nil {
			return err
		}
		if l.options.Previous {
			return fmt.Errorf("experiment %s has no such container that was restarted in its pod: leave -p out", name)
		}
		return fmt.Errorf("experiment %s has no such pods: they were deleted, or removed after the run, as spec.keep says. See `kubectl replab describe %s`", name, name)
	}
	return l.print(ctx, c, sources)
}

// source is a container whose log is printed.
type source struct {
	namespace, pod, container string
	only                      string // lines with this word; all where it is empty
}

// sources are the containers of an experiment's parts, in the order of their pods' names.
func (c Cluster) sources(ctx context.Context, name string, parts []string, previous bool) ([]source, error) {
	var pods corev1.PodList
	if err := c.List(ctx, &pods, client.InNamespace(c.Namespace), client.MatchingLabels{kube.LabelExperiment: name}); err != nil {
		return nil, fmt.Errorf("list the pods of experiment %s: %w", name, err)
	}
	var all []source
	for _, pod := range pods.Items {
		if len(parts) == 0 || slices.Contains(parts, pod.Labels[kube.LabelComponent]) || slices.Contains(parts, pod.Name) {
			all = append(all, containers(pod, previous, "")...)
		}
	}
	if slices.Contains(parts, kube.ComponentOperator) {
		var operators corev1.PodList
		if err := c.List(ctx, &operators, client.MatchingLabels(operatorLabels)); err != nil {
			return nil, fmt.Errorf("list the operator's pods: %w", err)
		}
		for _, pod := range operators.Items {
			all = append(all, containers(pod, previous, `"`+name+`"`)...)
		}
	}
	return all, nil
}

func containers(pod corev1.Pod, previous bool, only string) (all []source) {
	for _, s := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if begun := s.State.Running != nil || s.State.Terminated != nil; previous && s.RestartCount > 0 || !previous && begun {
			all = append(all, source{pod.Namespace, pod.Name, s.Name, only})
		}
	}
	return all
}

// print one source after another, or all at once where they are followed. What could not be read to its end is told, and the exit code says so.
func (l *logs) print(ctx context.Context, c Cluster, sources []source) error {
	out := &lines{to: l.Out}
	var failed atomic.Bool
	read := func(s source) {
		words := "log of container %s of pod %s: %v"
		stream, err := c.Kube.CoreV1().Pods(s.namespace).GetLogs(s.pod, l.optionsOf(s)).Stream(ctx)
		if err == nil {
			words, err = "log of container %s of pod %s ends early: %v", out.copy(s, stream)
		}
		if err != nil && ctx.Err() == nil {
			failed.Store(true)
			out.tell(l.ErrOut, words, s, err)
		}
	}
	var reading sync.WaitGroup
	for _, s := range sources {
		if l.options.Follow {
			reading.Go(func() { read(s) })
			continue
		}
		read(s)
	}
	reading.Wait()
	switch {
	case ctx.Err() != nil:
		return exit(ExitInterrupted)
	case failed.Load():
		return exit(ExitNotRun)
	}
	return nil
}

func (l *logs) optionsOf(s source) *corev1.PodLogOptions {
	options := l.options
	options.Container = s.container
	return &options
}

// lines of several containers, each whole.
type lines struct {
	mutex sync.Mutex
	to    io.Writer
}

const longestLine = 1 << 20

// tell of a source beside the lines.
func (l *lines) tell(to io.Writer, format string, s source, err error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	fmt.Fprintf(to, format+"\n", s.container, s.pod, err)
}

// copy the lines of a source; it fails where the stream breaks off.
func (l *lines) copy(s source, stream io.ReadCloser) error {
	defer stream.Close()
	scanner := bufio.NewScanner(stream)
	scanner.Buffer(nil, longestLine)
	for scanner.Scan() {
		if line := scanner.Text(); strings.Contains(line, s.only) {
			l.mutex.Lock()
			fmt.Fprintf(l.to, "[%s/%s] %s\n", s.pod, s.container, plain.NoCommands(line))
			l.mutex.Unlock()
		}
	}
	return scanner.Err()
}

// operatorLabels select the operator's pods, in whatever namespace.
var operatorLabels = map[string]string{"app.kubernetes.io/name": "replab", kube.LabelComponent: kube.ComponentOperator}
