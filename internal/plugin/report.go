package plugin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"replab.dev/internal/report/comparison"
	"replab.dev/internal/report/figures"
	"replab.dev/internal/report/html"
	"replab.dev/internal/report/markdown"
	"replab.dev/internal/report/table"
	"replab.dev/internal/results"
)

// reportFormats write one run.
var reportFormats = map[string]func(io.Writer, results.Results) error{
	"html":     html.Write,
	"markdown": harmless(markdown.Write),
	"json": func(w io.Writer, r results.Results) error {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetIndent("", "  ")
		if err := e.Encode(r); err != nil {
			return err
		}
		_, err := io.WriteString(w, table.Escaped(b.String()))
		return err
	},
	"csv": harmless(func(w io.Writer, r results.Results) error {
		d := figures.Of(r)
		return figures.WriteCSV(w, d)
	}),
	"csv-timeline": harmless(func(w io.Writer, r results.Results) error {
		d := figures.Of(r)
		return d.WriteTimelineCSV(w)
	}),
}

var reportNames = []string{"html", "json", "csv", "csv-timeline", "markdown"}

// compareFormats write several runs.
var compareFormats = map[string]func(io.Writer, *comparison.Comparison) error{
	"text":     harmless(func(w io.Writer, c *comparison.Comparison) error { return c.WriteText(w) }),
	"markdown": harmless(func(w io.Writer, c *comparison.Comparison) error { return c.WriteMarkdown(w) }),
	"html":     html.WriteComparison,
	"csv": harmless(func(w io.Writer, c *comparison.Comparison) error {
		var all []*figures.Document
		for _, r := range c.Runs {
			all = append(all, r.Document)
		}
		return figures.WriteCSV(w, all...)
	}),
}

// harmless has the texts of others, which a document may be full of, without what a terminal obeys. JSON keeps it escaped, and a page is not
// written to a terminal.
func harmless[T any](write func(io.Writer, T) error) func(io.Writer, T) error {
	return func(w io.Writer, of T) error {
		var b bytes.Buffer
		if err := write(&b, of); err != nil {
			return err
		}
		_, err := io.WriteString(w, table.Harmless(b.String()))
		return err
	}
}

var compareNames = []string{"text", "markdown", "html", "csv"}

func reportCommand(o *Options) *cobra.Command {
	format, file := "", ""
	cmd := &cobra.Command{
		Use:   "report NAME",
		Short: "Write what came of an experiment: a page for a browser, or its figures",
		Long: `Write what came of an experiment, from its results document.

html is a page that stands alone and asks for nothing from anywhere. json is the document itself, csv has a line for each figure, csv-timeline
one for each second, markdown what an issue needs. NAME may also be a file with the document as JSON.`,
		Example: `  kubectl replab report semisync --file semisync.html
  kubectl replab report semisync -o csv > semisync.csv`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: o.completeNames(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			write, ok := reportFormats[format]
			if !ok {
				return fmt.Errorf("there is no format %s: use --output %s", format, strings.Join(reportNames, ", "))
			}
			all, err := o.documents(cmd.Context(), args)
			if err != nil {
				return err
			}
			return o.write(format, file, func(w io.Writer) error { return write(w, *all[0]) })
		},
	}
	o.addFormat(cmd, &format, &file, reportNames)
	return cmd
}

func compareCommand(o *Options) *cobra.Command {
	format, file := "", ""
	cmd := &cobra.Command{
		Use:   "compare A B...",
		Short: "Hold experiments against the first one, where that may be done",
		Long: `Hold the figures of experiments against those of the first one, as the tables of conclusions do: differences are in percent of the first.
What may not be compared is shown without a difference, and why is said: another load, data set or machine, a verdict that is Inconclusive.
A name may also be a file with a results document as JSON.`,
		Example:           `  kubectl replab compare single async semisync -o html --file three.html`,
		Args:              cobra.MinimumNArgs(2),
		ValidArgsFunction: o.completeNames(0),
		RunE: func(cmd *cobra.Command, args []string) error {
			write, ok := compareFormats[format]
			if !ok {
				return fmt.Errorf("there is no format %s: use --output %s", format, strings.Join(compareNames, ", "))
			}
			all, err := o.documents(cmd.Context(), args)
			if err != nil {
				return err
			}
			var documents []*figures.Document
			for _, r := range all {
				d := figures.Of(*r)
				documents = append(documents, d)
			}
			c, err := comparison.Of(documents...)
			if err != nil {
				return err
			}
			return o.write(format, file, func(w io.Writer) error { return write(w, c) })
		},
	}
	o.addFormat(cmd, &format, &file, compareNames)
	return cmd
}

func (o *Options) addFormat(cmd *cobra.Command, format, file *string, names []string) {
	cmd.Flags().StringVarP(format, "output", "o", names[0], "what to write: "+strings.Join(names, ", "))
	cmd.Flags().StringVarP(file, "file", "f", "", "the file to write into, instead of the standard output")
	// It fails for a flag that is not there alone.
	_ = cmd.RegisterFlagCompletionFunc("output", fixed(names))
}

// documents of experiments, or of files that end in .json.
func (o *Options) documents(ctx context.Context, names []string) (all []*results.Results, err error) {
	var cluster *Cluster
	for _, name := range names {
		if strings.HasSuffix(name, ".json") {
			r, err := readDocument(name)
			if err != nil {
				return nil, err
			}
			all = append(all, r)
			continue
		}
		if cluster == nil {
			c, err := o.Connect()
			if err != nil {
				return nil, err
			}
			cluster = &c
		}
		r, err := cluster.Document(ctx, name)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

func readDocument(file string) (*results.Results, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the results document: %w", err)
	}
	r := &results.Results{}
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("read the results document in %s: %w", file, err)
	}
	if r.Experiment == "" {
		return nil, fmt.Errorf("file %s holds no results document: `kubectl replab report NAME -o json` writes one", file)
	}
	return r, nil
}

// write into a file, or to the standard output.
func (o *Options) write(format, file string, what func(io.Writer) error) error {
	if format == "html" && file == "" && o.terminal() {
		return errors.New("a page is not for a terminal: name a file for it, --file report.html, or another format, --output markdown")
	}
	if file == "" || file == "-" {
		return what(o.Out)
	}
	f, err := os.Create(file)
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	if err := errors.Join(what(f), f.Close()); err != nil {
		return fmt.Errorf("write the report into %s: %w", file, err)
	}
	fmt.Fprintln(o.ErrOut, "Written to", file)
	return nil
}

// fixed completes one of some names.
func fixed(names []string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}
