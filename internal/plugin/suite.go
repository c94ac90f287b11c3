package plugin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/plugin/follow"
	"replab.dev/internal/report/suites"
	"replab.dev/internal/runs"
)

// followSuite shows the suite with a UID until its verdict, and returns the exit code.
func (o *Options) followSuite(ctx context.Context, c Cluster, name string, uid types.UID, d display) (int, error) {
	begun := time.Now()
	progress := suiteProgress{o: o, drawn: !d.plain && o.terminal()}
	fresh := func() *v1alpha1.ReplicationSuite { return &v1alpha1.ReplicationSuite{} }
	s, err := runs.Follow(ctx, c.Cluster, fresh, client.ObjectKey{Namespace: c.Namespace, Name: name}, uid, d.timeout, progress.see)
	progress.clear()
	back := fmt.Sprintf("`kubectl replab watch suite/%s -n %s` comes back to it", name, c.Namespace)
	switch {
	case errors.Is(err, context.Canceled):
		fmt.Fprintf(o.ErrOut, "\nSuite %s goes on. Come back: kubectl replab watch suite/%[1]s -n %s; end it: kubectl replab abort suite/%[1]s -n %[2]s\n", name, c.Namespace)
		return ExitInterrupted, nil
	case apierrors.IsNotFound(err) && s != nil && s.Status.Verdict != "": // its ttl removed it
	case apierrors.IsNotFound(err):
		return ExitNotRun, fmt.Errorf("suite %s was deleted before its verdict was seen", name)
	case errors.Is(err, context.DeadlineExceeded) && time.Since(begun) >= d.timeout:
		return ExitNotRun, fmt.Errorf("suite %s has not ended after %s: %s", name, d.timeout, back)
	case err != nil:
		return ExitNotRun, fmt.Errorf("%w; the suite may go on: %s", err, back)
	}
	fmt.Fprintf(o.Out, "\n%s", suites.Text(s))
	return exitOfVerdict(s.Status.Conditions, s.Status.Verdict), nil
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
		fmt.Fprintf(p.o.Out, "%5d s  %s\n", int(now.Sub(s.CreationTimestamp.Time).Seconds()), line)
	}
	if p.drawn {
		width, _, err := term.GetSize(p.fd())
		if err != nil || width < 1 {
			width = 80
		}
		fmt.Fprint(p.o.Out, ansi.Truncate(follow.SuiteBar(s, now), width-1, "…"))
	}
}

// clear the bar.
func (p *suiteProgress) clear() {
	if p.drawn {
		fmt.Fprint(p.o.Out, "\r"+ansi.EraseEntireLine)
	}
}

func (p *suiteProgress) fd() uintptr {
	if f, ok := p.o.Out.(interface{ Fd() uintptr }); ok {
		return f.Fd()
	}
	return 0
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
	fmt.Fprintf(o.Out, "suite %s is being ended with its running trial. `kubectl replab watch suite/%[1]s` shows the end\n", s.Name)
	return nil
}

func (o *Options) describeSuite(s *v1alpha1.ReplicationSuite) {
	for _, line := range (&follow.SuiteEvents{}).Next(s, nil) {
		fmt.Fprintln(o.Out, line)
	}
	fmt.Fprintf(o.Out, "\n%s", suites.Text(s))
}
