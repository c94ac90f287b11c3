package plugin

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/report/ci"
	"replab.dev/internal/report/markdown"
	"replab.dev/internal/report/suites"
	"replab.dev/internal/report/summary"
)

// record keeps what came of each run of a command, and writes it into files for a CI server.
type record struct {
	junit, summary resultFile
	runs           []*recorded
}

// recorded is a run that was asked for.
type recorded struct {
	of       *unstructured.Unstructured
	begun    bool
	over     bool
	took     time.Duration
	end      conclusion
	why      error  // the reason for a missing end
	markdown string // its report
}

func (r *record) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&r.junit.path, "junit", "", "a file for the verdicts as JUnit XML, which CI servers read")
	cmd.Flags().StringVar(&r.summary.path, "summary", "", "a file to which the reports are appended as markdown")
}

// asked adds the runs of a command.
func (r *record) asked(all []*unstructured.Unstructured) {
	for _, x := range all {
		r.runs = append(r.runs, &recorded{of: x})
	}
}

// begins records that a run is under way, and writes what is known: a command that is killed leaves that.
func (r *record) begins(x *unstructured.Unstructured) error {
	for _, run := range r.runs {
		run.begun = run.begun || run.of == x
	}
	return r.junit.replace(cases(r.told(nil)))
}

// carriedOut records the result and the duration of a run.
func (r *record) carriedOut(ctx context.Context, c Cluster, x *unstructured.Unstructured, took time.Duration, end conclusion, why error) {
	for _, run := range r.runs {
		if run.of == x {
			run.begun, run.over, run.took, run.end, run.why = true, true, took, end, why
			if r.summary.path != "" {
				run.markdown = reported(ctx, c, end)
			}
		}
	}
}

// reported is the report of a run as markdown, "" where the results are gone.
func reported(ctx context.Context, c Cluster, end conclusion) string {
	var b bytes.Buffer
	switch {
	case end.suite != nil:
		trials, err := c.trials(ctx, end.suite)
		if err != nil || markdown.WriteSuite(&b, &suites.Document{Suite: end.suite, Trials: trials}) != nil {
			return ""
		}
	case end.experiment != nil:
		c.Namespace = end.experiment.Namespace
		document, err := c.Document(ctx, end.experiment.Name)
		if err != nil || markdown.Write(&b, *document) != nil {
			return ""
		}
	}
	return b.String()
}

// write the requested files. hindered is the error that stopped the command before its first run.
func (r *record) write(hindered error) error {
	all := r.told(hindered)
	junit := r.junit.replace
	if r.junit.stream != nil {
		junit = r.junit.add
	}
	return errors.Join(junit(cases(all)), r.summary.add(func(w io.Writer) error { return ci.WriteSummary(w, all) }))
}

// cases writes runs as JUnit.
func cases(all []ci.Run) func(io.Writer) error {
	return func(w io.Writer) error { return ci.WriteJUnit(w, all) }
}

// told is what is known of all runs.
func (r *record) told(hindered error) (all []ci.Run) {
	if slices.ContainsFunc(r.runs, func(run *recorded) bool { return run.begun }) {
		hindered = nil
	}
	for _, run := range r.runs {
		all = append(all, run.told(hindered))
	}
	if len(all) == 0 && hindered != nil {
		all = []ci.Run{{Name: "kubectl replab run", Begun: true, Reasons: []string{hindered.Error()}}}
	}
	return all
}

// told converts the run for package ci. hindered is the error that stopped all runs.
func (r *recorded) told(hindered error) ci.Run {
	run := ci.Run{Name: named(r.of), Namespace: r.of.GetNamespace(), Begun: r.begun, Took: r.took, Report: r.markdown}
	verdict, reasons, text := r.end.told()
	switch why := cmp.Or(r.why, hindered); {
	case verdict != "":
		run.Verdict, run.Reasons = verdict, slices.Concat(reasons, r.end.remarks())
		text = strings.Join(append(r.end.remarks(), text), "\n")
	case r.end.code == ExitInterrupted:
		run.Reasons = []string{"The command was interrupted. A run that was begun goes on."}
	case why != nil:
		run.Begun, run.Reasons = true, []string{why.Error()}
	case r.begun && !r.over:
		run.Reasons = []string{"The run was under way when this file was last written."}
	default:
		run.Reasons = []string{"It was not begun."}
	}
	run.Text = text
	return run
}

// conclusion is the result of following an experiment or a suite. One of both pointers is set.
type conclusion struct {
	code       int
	begunHere  bool // this command began it
	experiment *v1alpha1.ReplicationExperiment
	suite      *v1alpha1.ReplicationSuite
	// repetitions are the Inconclusive runs that this one replaced.
	repetitions int
}

// told is what the end says: the verdict, its reasons, and the result in words.
func (c conclusion) told() (v1alpha1.Verdict, []string, string) {
	var b bytes.Buffer
	switch {
	case c.experiment != nil:
		summary.Write(&b, c.experiment)
		s := c.experiment.Status
		return s.Verdict, slices.Concat(s.Reasons, missedGoals(s)), b.String()
	case c.suite != nil:
		suites.Write(&b, c.suite, false)
		return c.suite.Status.Verdict, c.suite.Status.Reasons, b.String()
	}
	return "", nil, ""
}

// missedGoals are those that the reasons do not have, since another finding decided. The notes have their figures.
func missedGoals(s v1alpha1.ReplicationExperimentStatus) (all []string) {
	for _, g := range s.Goals {
		missed := fmt.Sprintf("Goal %s (%s) was missed", g.Metric, g.Limit)
		of := func(sentence string) bool { return strings.HasPrefix(sentence, missed) }
		if g.Met != metav1.ConditionFalse || slices.ContainsFunc(s.Reasons, of) {
			continue
		}
		sentence := missed + "."
		if i := slices.IndexFunc(s.Notes, of); i >= 0 {
			sentence = s.Notes[i]
		}
		all = append(all, sentence)
	}
	return all
}

// undecided tells whether a repetition may give an answer: this command began the experiment, and it was not aborted. A missed goal and a lost write
// are answers, which a repetition would remove.
func (c conclusion) undecided() bool {
	x := c.experiment
	if !c.begunHere || x == nil || x.Status.Verdict != v1alpha1.VerdictInconclusive || x.Spec.Abort || c.code != ExitUnknown {
		return false
	}
	lost := x.Status.Writes != nil && ptr.Deref(x.Status.Writes.Lost, 0) > 0
	missed := func(g v1alpha1.GoalStatus) bool { return g.Met == metav1.ConditionFalse }
	return !lost && !slices.ContainsFunc(x.Status.Goals, missed)
}

// remarks say what a verdict alone does not: how this command came to it.
func (c conclusion) remarks() (remarks []string) {
	if !c.begunHere {
		remarks = append(remarks, "This command did not begin the run: it was under way already.")
	}
	if c.repetitions > 0 {
		remarks = append(remarks, fmt.Sprintf("It replaced Inconclusive runs: %d.", c.repetitions))
	}
	return remarks
}
