// Package ci writes what came of runs for CI servers: as JUnit XML, and as a summary in markdown. It is pure.
package ci

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"replab.dev/api/v1alpha1"
)

// Run is an experiment or a suite, and what came of it.
type Run struct {
	Name, Namespace string
	// Verdict is "" where there is none: it was not carried out, or not begun.
	Verdict v1alpha1.Verdict
	Begun   bool
	// Reasons of the verdict, or why there is none.
	Reasons []string
	// Text has the figures, Report all of it as markdown.
	Text, Report string
	Took         time.Duration
}

// WriteJUnit writes a test case for each run. A goal that was missed is a failure, and a run without an answer an error.
func WriteJUnit(w io.Writer, runs []Run) error {
	suite := junit.Testsuite{Name: "replab"}
	var took time.Duration
	for _, r := range runs {
		took += r.Took
		suite.AddTestcase(testcase(r))
	}
	suite.Time = seconds(took)
	all := junit.Testsuites{Name: "replab", Time: suite.Time}
	all.AddSuite(suite)
	if _, err := io.WriteString(w, `<?xml version="1.0" encoding="UTF-8"?>`+"\n"); err != nil {
		return err
	}
	return all.WriteXML(w)
}

func testcase(r Run) junit.Testcase {
	c := junit.Testcase{Name: r.Name, Classname: r.Namespace, Time: seconds(r.Took)}
	if r.Text != "" {
		c.SystemOut = &junit.Output{Data: r.Text}
	}
	because := &junit.Result{Type: cmp.Or(string(r.Verdict), "NotRun"), Data: strings.Join(r.Reasons, "\n")}
	if len(r.Reasons) > 0 {
		because.Message = r.Reasons[0]
	}
	switch {
	case r.Verdict == v1alpha1.VerdictPassed:
	case r.Verdict == v1alpha1.VerdictFailed:
		c.Failure = because
	case !r.Begun:
		c.Skipped = because
	default:
		c.Error = because
	}
	return c
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }
