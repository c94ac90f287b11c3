package plugin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/internal/plain"
)

// removal is how long the objects of an older run may take to go.
const removal = 3 * time.Minute

// runner carries experiments and suites out, one after another.
type runner struct {
	*Options
	display
	record
	replace bool
	force   bool
	retries int // of an Inconclusive experiment
	// room has to be made by these, which were complete when all was tried.
	room map[types.UID]bool
}

func runCommand(o *Options) *cobra.Command {
	r := runner{Options: o, room: map[types.UID]bool{}}
	cmd := &cobra.Command{
		Use:   "run FILE...",
		Short: "Apply experiments and suites, and show each live until its verdict",
		Long: `Apply experiments and suites, and show each live until its verdict, one after another in the order of the files: two at once would disturb
each other's figures. What else is in the files, such as the ConfigMap of a k6 script, is applied first. All is tried without effect before
anything runs, so that a field that is wrong is told at once.

--junit and --summary write the results of the runs for a CI server. --retry-inconclusive repeats an experiment that could not be measured, missed no
goal and lost no writes; a suite has retries of its own.

An experiment or a suite runs once. One of the same name that is still under way is shown, also with --replace; one that is over has to make room:
--replace removes it with its results. One that ended before its start begins anew where its spec is changed.

Exit codes: 0 passed, 1 failed, 2 inconclusive or invalid, 3 could not be carried out, of several the worst: 3, 1, 2, 0; 130 interrupted: the run goes on.`,
		Example: `  kubectl replab run experiments/semisync.yaml
  kubectl replab run --replace experiments/single.yaml experiments/semisync.yaml
  kubectl replab run --junit junit.xml --summary "$GITHUB_STEP_SUMMARY" --retry-inconclusive 1 experiments/*.yaml
  kustomize build . | kubectl replab run -`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, files []string) error { return r.run(cmd.Context(), files) },
	}
	r.display.addFlags(cmd)
	r.record.addFlags(cmd)
	cmd.Flags().IntVar(&r.retries, "retry-inconclusive", 0, "how often an experiment that this command began is removed and run again where it is Inconclusive")
	cmd.Flags().BoolVar(&r.replace, "replace", false, "remove an experiment of the same name that is over, with its results, first")
	cmd.Flags().BoolVar(&r.force, "force-conflicts", false, "take over fields that another field manager has set")
	return cmd
}

func (r *runner) run(ctx context.Context, files []string) error {
	if err := r.open(); err != nil {
		return err
	}
	err := r.carryOutAll(ctx, files)
	hindered := err
	if _, ended := errors.AsType[exit](err); ended {
		hindered = nil
	}
	unwritten := r.record.write(hindered)
	if err == nil || unwritten == nil {
		return cmp.Or(err, unwritten)
	}
	fmt.Fprintln(r.ErrOut, "error:", plain.Line(unwritten.Error())) // the exit code is the verdict's
	return err
}

// carryOutAll that is in the files, once all was tried without effect.
func (r *runner) carryOutAll(ctx context.Context, files []string) error {
	c, err := r.Connect()
	if err != nil {
		return err
	}
	found, err := r.read(files)
	if err != nil {
		return err
	}
	experiments, others := sorted(found)
	if len(experiments) == 0 {
		return fmt.Errorf("no ReplicationExperiment or ReplicationSuite is in %v", files)
	}
	if err := once(experiments); err != nil {
		return err
	}
	r.asked(experiments)
	if err := r.refuse(ctx, experiments); err != nil {
		return err
	}
	for _, x := range found {
		err := r.try(ctx, c, x)
		if apierrors.IsNotFound(err) && makes(others, x.GetNamespace()) {
			continue // nothing can be tried in a namespace before it is there
		}
		if err != nil {
			return err
		}
	}
	for _, x := range others {
		if _, err := r.apply(ctx, c, x); err != nil {
			return err
		}
	}
	return r.inTurn(ctx, c, experiments)
}

// refuse experiments that the operator would, before anything is applied.
func (r *runner) refuse(ctx context.Context, experiments []*unstructured.Unstructured) error {
	refused, err := r.checkHere(ctx, experiments, r.ErrOut, plainName)
	if err == nil && len(refused) > 0 {
		err = fmt.Errorf("%d of %d are refused, and nothing was applied: correct the fields above", len(refused), len(experiments))
	}
	return err
}

// inTurn carries experiments out one after another: two at once disturb each other.
func (r *runner) inTurn(ctx context.Context, c Cluster, experiments []*unstructured.Unstructured) error {
	worst := ExitOK
	for i, x := range experiments {
		if err := r.begins(x); err != nil {
			fmt.Fprintln(r.ErrOut, "error:", plain.Line(err.Error())) // the runs matter more, and the last write may succeed
		}
		begun := time.Now()
		end, err := r.repeat(ctx, c, x)
		code := end.code
		r.carriedOut(ctx, c, x, time.Since(begun), end, err)
		if err != nil || code == ExitInterrupted {
			for _, left := range experiments[i+1:] {
				fmt.Fprintf(r.ErrOut, "%s was not begun.\n", capital(named(left)))
			}
		}
		switch {
		case err != nil:
			return err
		case code == ExitInterrupted:
			return exit(code)
		}
		worst = worse(worst, code)
	}
	return ending(worst)
}

// repeat an experiment while it is Inconclusive, as often as was asked for.
func (r *runner) repeat(ctx context.Context, c Cluster, x *unstructured.Unstructured) (conclusion, error) {
	for again := 1; ; again++ {
		end, err := r.carryOut(ctx, c, x)
		end.repetitions = again - 1
		if err != nil || again > r.retries || !end.undecided() {
			return end, err
		}
		fmt.Fprintf(r.Out, "\n%s is Inconclusive, and runs again: repetition %d of %d.\n", capital(named(x)), again, r.retries)
		r.room[end.experiment.UID] = true
	}
}

// try without effect.
func (r *runner) try(ctx context.Context, c Cluster, x *unstructured.Unstructured) error {
	if !isRun(x) {
		_, err := r.apply(ctx, c, x, client.DryRunAll)
		return err
	}
	older, err := existing(ctx, c, x)
	switch {
	case err != nil:
		return err
	case older == nil || !older.ended && (older.DeletionTimestamp == nil || !r.replace):
		_, err := r.apply(ctx, c, x, client.DryRunAll)
		return err
	case !r.replace && !older.started:
		return r.tryAnew(ctx, c, x)
	case !r.replace:
		return fmt.Errorf("%s has run already, and is %s: each runs once; --replace removes it with its results, or give the new one another name",
			named(x), older.verdict)
	}
	r.room[older.UID] = true
	if _, err := r.apply(ctx, c, renamed(x), client.DryRunAll); err != nil {
		return fmt.Errorf("try %s by another name: %w", named(x), err)
	}
	return nil
}

// tryAnew one that ended before its start: a changed spec begins it anew.
func (r *runner) tryAnew(ctx context.Context, c Cluster, x *unstructured.Unstructured) error {
	applied, err := r.apply(ctx, c, x, client.DryRunAll)
	if err != nil {
		return err
	}
	then, err := olderOf(applied)
	switch {
	case err != nil:
		return err
	case asks(applied, "abort") && !asks(x, "abort"):
		return fmt.Errorf("%s was aborted before its start: begin it again with --replace", named(x))
	case asks(applied, "suspend") && !asks(x, "suspend"):
		return fmt.Errorf("%s ended before its start and is suspended: set spec.suspend to false, or begin it again with --replace", named(x))
	case then.ended:
		return fmt.Errorf("%s ended before its start: change its spec, or begin it again with --replace", named(x))
	}
	return nil
}

// asks tells whether a field of the spec is true. Applying a file does not clear one that a patch set.
func asks(x *unstructured.Unstructured, field string) bool {
	yes, _, _ := unstructured.NestedBool(x.Object, "spec", field)
	return yes
}

// renamed is an experiment whose name is free: the older one is still there. What refers to the name follows it.
func renamed(x *unstructured.Unstructured) *unstructured.Unstructured {
	other := x.DeepCopy()
	other.SetName("replab-" + rand.String(8))
	if baseline, _, err := unstructured.NestedString(other.Object, "spec", "baseline", "name"); err == nil && baseline == x.GetName() {
		_ = unstructured.SetNestedField(other.Object, other.GetName(), "spec", "baseline", "name") // it was just read there
	}
	return other
}

// apply by the server, and return what it has then: a field that nobody knows is an error.
func (r *runner) apply(ctx context.Context, c Cluster, x *unstructured.Unstructured, more ...client.ApplyOption) (*unstructured.Unstructured, error) {
	options := append([]client.ApplyOption{client.FieldOwner(fieldManager)}, more...)
	if r.force {
		options = append(options, client.ForceOwnership)
	}
	applied := x.DeepCopy()
	err := c.Apply(ctx, client.ApplyConfigurationFromUnstructured(applied), options...)
	switch {
	case err == nil:
		return applied, nil
	case apierrors.IsConflict(err):
		return nil, fmt.Errorf("apply %s %s: %w; --force-conflicts takes the fields over", x.GetKind(), x.GetName(), err)
	}
	return nil, fmt.Errorf("apply %s %s: %w", x.GetKind(), x.GetName(), explained(err))
}

// fieldManager owns what the plugin applies.
const fieldManager = "kubectl-replab"

// carryOut one experiment or suite until its verdict.
func (r *runner) carryOut(ctx context.Context, c Cluster, x *unstructured.Unstructured) (conclusion, error) {
	c.Namespace = x.GetNamespace()
	older, err := existing(ctx, c, x)
	switch {
	case err != nil:
		return conclusion{code: ExitNotRun}, err
	case older != nil && r.room[older.UID]:
		if err := r.remove(ctx, c, x, older.UID); err != nil && ctx.Err() == nil {
			return conclusion{code: ExitNotRun}, err
		}
		if ctx.Err() != nil {
			fmt.Fprintf(r.ErrOut, "%s was not begun, and the older one is being removed.\n", capital(named(x)))
			return conclusion{code: ExitInterrupted}, nil
		}
		older = nil
	}
	applied, err := r.apply(ctx, c, x)
	if err != nil {
		return conclusion{code: ExitNotRun}, err
	}
	begun, err := r.begun(older, applied)
	if err != nil {
		return conclusion{code: ExitNotRun}, err
	}
	follow := r.follow
	if isSuite(x) {
		follow = r.followSuite
	}
	end, err := follow(ctx, c, x.GetName(), applied.GetUID(), r.display)
	end.begunHere = begun
	return end, err
}

// begun tells whether applying began a run. Otherwise it says how the older one stands.
func (r *runner) begun(older *older, applied *unstructured.Unstructured) (bool, error) {
	if older == nil {
		return true, nil
	}
	now, err := olderOf(applied)
	if err != nil {
		return false, err
	}
	how := "is under way already."
	anew := older.ended && !now.ended
	switch {
	case anew:
		how = "ended before its start, and begins anew."
	case now.ended:
		how = "has already ended. Its result:"
	}
	fmt.Fprintf(r.Out, "%s %s\n", capital(named(applied)), how)
	return anew, nil
}

// remove the older experiment, and none that somebody has put in its place.
func (r *runner) remove(ctx context.Context, c Cluster, x *unstructured.Unstructured, uid types.UID) error {
	fmt.Fprintf(r.Out, "Removing the older %s and its objects.\n", named(x))
	older := x.DeepCopy()
	older.SetUID(uid)
	if _, err := c.Delete(ctx, older); err != nil {
		return err
	}
	return c.AwaitGone(ctx, older, removal)
}
