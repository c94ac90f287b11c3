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

	"replab.dev/internal/report/comparison"
	"replab.dev/internal/report/figures"
	"replab.dev/internal/report/html"
	"replab.dev/internal/report/markdown"
	"replab.dev/internal/report/table"
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
	{"json", func(w io.Writer, r results.Results) error {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetIndent("", "  ")
		if err := e.Encode(r); err != nil {
			return err
		}
		_, err := io.WriteString(w, table.Escaped(b.String()))
		return err
	}},
	{"csv", harmless(func(w io.Writer, r results.Results) error { return figures.WriteCSV(w, figures.Of(r)) })},
	{"csv-timeline", harmless(func(w io.Writer, r results.Results) error { return figures.Of(r).WriteTimelineCSV(w) })},
	{"markdown", harmless(markdown.Write)},
}

// compareFormats write several runs. The first is the default.
var compareFormats = []format[*comparison.Comparison]{
	{"text", harmless(func(w io.Writer, c *comparison.Comparison) error { return c.WriteText(w) })},
	{"markdown", harmless(func(w io.Writer, c *comparison.Comparison) error { return c.WriteMarkdown(w) })},
	{"html", html.WriteComparison},
	{"csv", harmless(func(w io.Writer, c *comparison.Comparison) error {
		var all []*figures.Document
		for _, r := range c.Runs {
			all = append(all, r.Document)
		}
		return figures.WriteCSV(w, all...)
	})},
}

// harmless removes from texts of a document what a terminal obeys. JSON escapes it, and a page is not written to a terminal.
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

func reportCommand(o *Options) *cobra.Command {
	return written(o, &cobra.Command{
		Use:   "report NAME",
		Short: "Write a report of an experiment: a page for a browser, or its figures",
		Long: `Write a report of an experiment from its results document.

html is a page that stands alone and loads nothing. json is the document itself, csv has a line for each figure, csv-timeline one for each second,
markdown the text for an issue. NAME may also be a file with the document as JSON, or the path of a folder that export wrote: ./semisync`,
		Example: `  kubectl replab report semisync --file semisync.html
  kubectl replab report semisync -o csv > semisync.csv`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: o.completeNames(1),
	}, reportFormats, func(all []*results.Results) (results.Results, error) { return *all[0], nil })
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
	output := cmd.Flags().StringP("output", "o", names[0], "the format: "+strings.Join(names, ", "))
	file := cmd.Flags().StringP("file", "f", "", "the file to write into, instead of the standard output")
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp)) // the flag is there
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		i := slices.Index(names, *output)
		if i < 0 {
			return fmt.Errorf("there is no format %s: use --output %s", *output, strings.Join(names, ", "))
		}
		all, err := o.documents(cmd.Context(), args)
		if err != nil {
			return err
		}
		of, err := made(all)
		if err != nil {
			return err
		}
		return o.write(*output, *file, func(w io.Writer) error { return formats[i].write(w, of) })
	}
	return cmd
}

// documents of experiments, of files that end in .json, or of folders, whose paths have a separator.
func (o *Options) documents(ctx context.Context, names []string) (all []*results.Results, err error) {
	var cluster *Cluster
	for _, name := range names {
		if strings.HasSuffix(name, ".json") || strings.ContainsRune(name, filepath.Separator) {
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
	if err := errors.Join(what(f), f.Close()); err != nil {
		return fmt.Errorf("write the report into %s: %w", file, err)
	}
	fmt.Fprintln(o.ErrOut, "Written to", file)
	return nil
}
