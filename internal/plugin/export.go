package plugin

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/plain"
)

// What export writes into a run's folder.
const (
	exportedExperiment = "experiment.yaml"
	exportedResults    = "results.json"
	exportedLogs       = "logs" // a file for each container
	exportedSuite      = "suite.yaml"
	exportedTrials     = "trials" // a folder for each experiment
)

func exportCommand(o *Options) *cobra.Command {
	var folder string
	cmd := &cobra.Command{
		Use:   "export NAME",
		Short: "Write an experiment or a suite, with results and logs, into a folder",
		Long: `Write an experiment, its results document and the logs of its pods into a folder, so that they outlive the cluster.

The folder gets experiment.yaml, results.json and logs/POD_CONTAINER.log. Files of the same names are replaced. report and compare read the
folder: kubectl replab report ./semisync --file semisync.html

The folder of a suite gets suite.yaml, and trials/EXPERIMENT with the same files for each trial that is left and has ended.`,
		Example: `  kubectl replab export semisync
  kubectl replab export semisync --to runs/semisync-1`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: o.completeNames(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.export(cmd.Context(), args[0], cmp.Or(folder, path.Base(args[0]))) // without its kind
		},
	}
	cmd.Flags().StringVar(&folder, "to", "", "the folder; default: NAME in the working directory")
	return cmd
}

func (o *Options) export(ctx context.Context, name, folder string) error {
	c, err := o.Connect()
	if err != nil {
		return err
	}
	x, s, err := c.find(ctx, name)
	if err != nil {
		return err
	}
	if s != nil {
		return o.exportSuite(ctx, c, s, folder)
	}
	kept, err := o.exportExperiment(ctx, c, x, folder)
	if err != nil && kept == 0 {
		return err
	}
	fmt.Fprintf(o.ErrOut, "Written to %s: %s, %s and the logs of %d containers\n", folder, exportedExperiment, exportedResults, kept)
	return err
}

// exportExperiment writes the results first: they are what is missed most if something fails later. It counts the logs.
func (o *Options) exportExperiment(ctx context.Context, c Cluster, x *v1alpha1.ReplicationExperiment, folder string) (logs int, err error) {
	document, err := c.Document(ctx, x.Name)
	if err != nil {
		return 0, err
	}
	text, err := json.MarshalIndent(document, "", "  ")
	if err != nil {
		return 0, err
	}
	object, err := manifest(c, x)
	if err != nil {
		return 0, err
	}
	if err := errors.Join(put(folder, exportedResults, text), put(folder, exportedExperiment, []byte(object))); err != nil {
		return 0, err
	}
	return o.exportLogs(ctx, c, x.Name, filepath.Join(folder, exportedLogs))
}

// exportSuite writes the suite first, and goes on where a trial cannot be written.
func (o *Options) exportSuite(ctx context.Context, c Cluster, s *v1alpha1.ReplicationSuite, folder string) error {
	trials, err := c.trials(ctx, s)
	if err != nil {
		return err
	}
	object, err := manifest(c, s)
	if err != nil {
		return err
	}
	if err := put(folder, exportedSuite, []byte(object)); err != nil {
		return err
	}
	kept := 0
	for i := range trials {
		x := &trials[i]
		if !complete(x) {
			continue
		}
		if _, failed := o.exportExperiment(ctx, c, x, filepath.Join(folder, exportedTrials, x.Name)); failed != nil {
			fmt.Fprintf(o.ErrOut, "trial %s: %v\n", x.Name, failed)
			err = exit(ExitNotRun)
			continue
		}
		kept++
	}
	fmt.Fprintf(o.ErrOut, "Written to %s: %s and %d of %d trials that are left\n", folder, exportedSuite, kept, len(trials))
	return err
}

// manifest of an object with its status.
func manifest(c Cluster, x client.Object) (string, error) {
	kind, err := apiutil.GVKForObject(x, c.Scheme())
	if err != nil {
		return "", err
	}
	x.GetObjectKind().SetGroupVersionKind(kind)
	x.SetManagedFields(nil)
	return plain.YAML(x)
}

// exportLogs writes the log of each container that is left, and counts them. A log that cannot be read is reported, and the others are written.
func (o *Options) exportLogs(ctx context.Context, c Cluster, name, folder string) (kept int, err error) {
	sources, err := c.sources(ctx, name, nil, false)
	if err != nil {
		return 0, err
	}
	for _, s := range sources {
		text, read := c.log(ctx, s)
		if read != nil {
			fmt.Fprintf(o.ErrOut, "log of container %s of pod %s: %v\n", s.container, s.pod, read)
			err = exit(ExitNotRun)
			continue
		}
		if failed := put(folder, s.pod+"_"+s.container+".log", text); failed != nil {
			return kept, failed
		}
		kept++
	}
	return kept, err
}

// log of a container.
func (c Cluster) log(ctx context.Context, s source) ([]byte, error) {
	l := logs{}
	stream, err := c.Kube.CoreV1().Pods(s.namespace).GetLogs(s.pod, l.optionsOf(s)).Stream(ctx)
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	var text bytes.Buffer
	_, err = io.Copy(&text, stream)
	return text.Bytes(), err
}

// put writes a file of a folder, which is made if need be.
func put(folder, name string, text []byte) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("make the folder: %w", err)
	}
	if err := os.WriteFile(filepath.Join(folder, name), text, 0o644); err != nil {
		return fmt.Errorf("write a file of the folder: %w", err)
	}
	return nil
}
