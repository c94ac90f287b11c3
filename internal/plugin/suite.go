package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/charmbracelet/x/ansi"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/plugin/follow"
	"replab.dev/internal/report/remedy"
	"replab.dev/internal/report/suites"
	"replab.dev/internal/report/terminal"
	"replab.dev/internal/runs"
)

// followSuite shows the suite with a UID until its verdict.
func (o *Options) followSuite(ctx context.Context, c Cluster, name string, uid types.UID, d display) (conclusion, error) {
	begun := time.Now()
	progress := suiteProgress{o: o, drawn: !d.plain && o.terminal()}
	key := client.ObjectKey{Namespace: c.Namespace, Name: name}
	ctx, attention := watched(ctx, o.patience())
	defer attention.leave(nil)
	s, err := runs.Follow(ctx, c.Cluster, key, uid, d.timeout, func(s *v1alpha1.ReplicationSuite, away error) {
		progress.see(s, away)
		if away == nil {
			attention.look(time.Now(), s.Attended())
		}
	})
	progress.clear()
	of := followed{noun: suiteNoun, argument: suiteNoun + "/" + name, name: key, after: d.timeout, step: "has not ended", unseen: s != nil && !s.Attended()}
	of.over = s != nil && s.Status.Verdict != ""
	if code, err := o.left(of, cause(ctx, err), time.Since(begun)); code != ExitOK {
		return conclusion{code: code}, err
	}
	fmt.Fprintln(o.Out)
	suites.Write(o.Out, s, false)
	o.next(remedy.Suite(s))
	return conclusion{code: exitOfVerdict(s.Status.Conditions, s.Status.Verdict), suite: s}, nil
}

// suiteProgress prints what happens in a suite, a line each, and in a terminal a bar below them.
type suiteProgress struct {
	o      *Options
	events follow.SuiteEvents
	drawn  bool // a bar
}

func (p *suiteProgress) see(s *v1alpha1.ReplicationSuite, away error) {
	if s == nil {
		return
	}
	now := time.Now()
	p.clear()
	for _, line := range p.events.Next(s, away) {
		fmt.Fprint(p.o.Out, follow.Line(now.Sub(s.CreationTimestamp.Time), line))
	}
	if p.drawn {
		fmt.Fprint(p.o.drawn, ansi.Truncate(follow.SuiteBar(s, now), barMost, "…"))
	}
}

// barMost is how many columns the bar may take: a longer one would break in two lines, of which clear erases one.
const barMost = 79

// clear the bar.
func (p *suiteProgress) clear() {
	if p.drawn {
		fmt.Fprint(p.o.drawn, "\r"+ansi.EraseEntireLine)
	}
}

// abort a suite.
func (o *Options) abortSuite(ctx context.Context, c Cluster, s *v1alpha1.ReplicationSuite) error {
	if meta.IsStatusConditionTrue(s.Status.Conditions, v1alpha1.ConditionComplete) {
		fmt.Fprintf(o.Out, "suite %s has already ended: %s\n", s.Name, s.Status.Verdict)
		return nil
	}
	if err := c.Patch(ctx, s, abortPatch); err != nil {
		return fmt.Errorf("abort suite %s: %w", s.Name, err)
	}
	fmt.Fprintf(o.Out, "suite %s is being ended with its running trial. `kubectl replab watch suite/%[1]s -n %[2]s` shows the end\n", s.Name, s.Namespace)
	return nil
}

func (o *Options) describeSuite(s *v1alpha1.ReplicationSuite) {
	suites.Write(o.Out, s, true)
	o.next(remedy.Suite(s))
}

// next says what to do.
func (o *Options) next(lines []string) {
	for _, line := range lines {
		terminal.Row(o.Out, "Next", line)
	}
}

// trials of a suite that are left, in the order of its runs.
func (c Cluster) trials(ctx context.Context, s *v1alpha1.ReplicationSuite) (all []v1alpha1.ReplicationExperiment, err error) {
	for _, run := range s.Status.Runs {
		x := v1alpha1.ReplicationExperiment{}
		err := c.Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: run.Name}, &x)
		switch {
		case apierrors.IsNotFound(err), err == nil && x.UID != run.UID: // deleted, or another one of its name
			continue
		case err != nil:
			return nil, fmt.Errorf("read trial %s: %w", run.Name, err)
		}
		all = append(all, x)
	}
	return all, nil
}

// suiteDocument of a name, of a file that report wrote or of a folder that export wrote; nil where it is of an experiment.
func (o *Options) suiteDocument(ctx context.Context, name string) (*suites.Document, error) {
	if isPath(name) {
		return readSuite(name)
	}
	c, err := o.Connect()
	if err != nil {
		return nil, err
	}
	s, err := c.suite(ctx, name)
	if err != nil || s == nil {
		return nil, err
	}
	trials, err := c.trials(ctx, s)
	return &suites.Document{Suite: s, Trials: trials}, err
}

func readSuite(path string) (*suites.Document, error) {
	d := &suites.Document{}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		text, err := os.ReadFile(path)
		if err != nil || json.Unmarshal(text, d) != nil || d.Suite == nil {
			return nil, nil //nolint:nilerr // what reads experiments says what is wrong
		}
		return d, nil
	}
	switch err := readYAML(filepath.Join(path, exportedSuite), &d.Suite); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	for _, run := range d.Suite.Status.Runs {
		x := v1alpha1.ReplicationExperiment{}
		switch err := readYAML(filepath.Join(path, exportedTrials, run.Name, exportedExperiment), &x); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, err
		default:
			d.Trials = append(d.Trials, x)
		}
	}
	return d, nil
}

func readYAML(file string, into any) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := yaml.Unmarshal(text, into); err != nil {
		return fmt.Errorf("read %s: %w", file, err)
	}
	return nil
}
