package plugin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"replab.dev/internal/plain"
	"replab.dev/internal/report/comparison"
	"replab.dev/internal/report/figures"
	"replab.dev/internal/report/html"
	"replab.dev/internal/report/markdown"
	"replab.dev/internal/report/suites"
	"replab.dev/internal/results"
)

// format of an output, and what writes it.
type format[T any] struct {
	name  string
	write func(io.Writer, T) error
}

// reportFormats write one run. The first is the default.
var reportFormats = []format[results.Results]{
	{"html", html.Write},
	{"json", asJSON[results.Results]},
	{"csv", func(w io.Writer, r results.Results) error { return figures.WriteCSV(w, figures.Of(r)) }},
	{"csv-timeline", func(w io.Writer, r results.Results) error { return figures.Of(r).WriteTimelineCSV(w) }},
	{"markdown", markdown.Write},
}

// suiteFormats write a suite. The first is the default.
var suiteFormats = []format[*suites.Document]{
	{"html", html.WriteSuite},
	{"json", asJSON[*suites.Document]},
	{"csv", func(w io.Writer, d *suites.Document) error { return d.WriteCSV(w) }},
	{"markdown", markdown.WriteSuite},
}

func asJSON[T any](w io.Writer, of T) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	if err := e.Encode(of); err != nil {
		return err
	}
	_, err := io.WriteString(w, plain.JSON(b.String()))
	return err
}

// compareFormats write several runs. The first is the default.
var compareFormats = []format[*comparison.Comparison]{
	{"text", func(w io.Writer, c *comparison.Comparison) error { return c.WriteText(w) }},
	{"markdown", markdown.WriteComparison},
	{"html", html.WriteComparison},
	{"csv", func(w io.Writer, c *comparison.Comparison) error {
		var all []*figures.Document
		for _, r := range c.Runs {
			all = append(all, r.Document)
		}
		return figures.WriteCSV(w, all...)
	}},
}

func reportCommand(o *Options) *cobra.Command {
	cmd := written(o, &cobra.Command{
		Use:   "report NAME",
		Short: "Write a report of an experiment or a suite: a page for a browser, or its figures",
		Long: `Write a report of an experiment from its results document, or of a suite from its status and its trials.

html is a page that stands alone and loads nothing. json is the document itself, csv has a line for each figure, csv-timeline one for each second,
markdown the text for an issue. NAME may also be a file with the document as JSON, or the path of a folder that export wrote: ./semisync`,
		Example: `  kubectl replab report semisync --file semisync.html
  kubectl replab report semisync -o csv > semisync.csv`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: o.completeNames(1),
	}, reportFormats, func(all []*results.Results) (results.Results, error) { return *all[0], nil })
	ofExperiment := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		d, err := o.suiteDocument(cmd.Context(), args[0])
		switch {
		case err != nil:
			return err
		case d == nil:
			return ofExperiment(cmd, args)
		}
		return writeIn(o, cmd, suiteFormats, func() (*suites.Document, error) { return d, nil })
	}
	return cmd
}

func compareCommand(o *Options) *cobra.Command {
	return written(o, &cobra.Command{
		Use:   "compare A B...",
		Short: "Compare experiments with the first one",
		Long: `Compare the figures of experiments with those of the first one. Differences are in percent of the first.
Runs that are not comparable are shown without differences, with the reason: another load, data set or machine, or the verdict Inconclusive.
A name may also be a file with a results document as JSON, or the path of a folder that export wrote: ./semisync`,
		Example:           `  kubectl replab compare single async semisync -o html --file three.html`,
		Args:              cobra.MinimumNArgs(2),
		ValidArgsFunction: o.completeNames(0),
	}, compareFormats, func(all []*results.Results) (*comparison.Comparison, error) {
		var documents []*figures.Document
		for _, r := range all {
			documents = append(documents, figures.Of(*r))
		}
		return comparison.Of(documents...)
	})
}

// written is a command whose arguments are documents. It makes something of them and writes that in a format.
func written[T any](o *Options, cmd *cobra.Command, formats []format[T], made func([]*results.Results) (T, error)) *cobra.Command {
	var names []string
	for _, f := range formats {
		names = append(names, f.name)
	}
	cmd.Flags().StringP("output", "o", names[0], "the format: "+strings.Join(names, ", "))
	cmd.Flags().StringP("file", "f", "", "the file to write into, instead of the standard output")
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp)) // the flag is there
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return writeIn(o, cmd, formats, func() (of T, err error) {
			all, err := o.documents(cmd.Context(), args)
			if err != nil {
				return of, err
			}
			return made(all)
		})
	}
	return cmd
}

// writeIn the format that a command's flags name, into their file.
func writeIn[T any](o *Options, cmd *cobra.Command, formats []format[T], made func() (T, error)) error {
	output, file := cmd.Flag("output").Value.String(), cmd.Flag("file").Value.String()
	var names []string
	for _, f := range formats {
		names = append(names, f.name)
	}
	i := slices.Index(names, output)
	if i < 0 {
		return fmt.Errorf("there is no format %s: use --output %s", output, strings.Join(names, ", "))
	}
	of, err := made()
	if err != nil {
		return err
	}
	return o.write(output, file, func(w io.Writer) error { return formats[i].write(w, of) })
}

// documents of experiments, of files that end in .json, or of folders, whose paths have a separator.
func (o *Options) documents(ctx context.Context, names []string) (all []*results.Results, err error) {
	var cluster *Cluster
	for _, name := range names {
		if isPath(name) {
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
		r, err := cluster.Document(ctx, strings.TrimPrefix(name, experimentNoun+"/"))
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// isPath tells files and folders from names of the cluster.
func isPath(name string) bool {
	kind, _, _ := strings.Cut(name, "/")
	return strings.HasSuffix(name, ".json") || strings.ContainsRune(name, filepath.Separator) && kind != experimentNoun && kind != suiteNoun
}

func readDocument(file string) (*results.Results, error) {
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		file = filepath.Join(file, exportedResults)
	}
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
	if err := errors.Join(what(plain.Writer(f)), f.Close()); err != nil {
		return fmt.Errorf("write the report into %s: %w", file, err)
	}
	fmt.Fprintln(o.ErrOut, "Written to", file)
	return nil
}
