package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/report/table"
	"replab.dev/internal/runs"
)

const (
	// removal is how long the objects of a run may take to go.
	removal = 3 * time.Minute
	// abortion is how long a run may take to end that was aborted.
	abortion = 5 * time.Minute
)

// runner makes runs on a cluster.
type runner struct {
	cluster runs.Cluster
	limit   time.Duration
	keep    int    // runs whose objects stay
	id      string // of the campaign
}

// carryOut makes the runs that are missing, and writes each down when it is over. One that is stopped is not written down, and is taken
// up again: it goes on in the cluster meanwhile.
func carryOut(ctx context.Context, out io.Writer, r runner, b *book, s subject, o options) error {
	all := s.tasks(o)
	for i := len(b.runs); i < len(all) && ctx.Err() == nil; i++ {
		x, err := s.object(all[i], o.draw, r.id)
		if err != nil {
			return err
		}
		began := time.Now()
		done, err := r.make(ctx, x)
		if ctx.Err() != nil {
			return nil
		}
		if done == nil && err != nil {
			return err // it was never there: the next one would fare no better
		}
		made := record{task: all[i], Name: x.GetName(), Status: &done.Status, Steps: table.Steps(done)}
		if o.draw.any() {
			made.Faults = done.Spec.Faults
		}
		if err != nil {
			made.Error = err.Error()
		}
		if err := r.put(ctx, b, &made, x); err != nil {
			return err
		}
		made.Seconds = int64(time.Since(began).Seconds())
		if err := b.add(made); err != nil {
			return err
		}
		fmt.Fprintln(out, line(made))
		if err := r.thin(ctx, b); err != nil {
			return err
		}
	}
	return nil
}

// make carries one run out, or takes it up where it is under way. One that takes too long is aborted, so that it is in no other's way.
func (r runner) make(ctx context.Context, x *unstructured.Unstructured) (*v1alpha1.ReplicationExperiment, error) {
	name := client.ObjectKeyFromObject(x)
	if err := r.cluster.Create(ctx, x); err != nil {
		if !apierrors.IsAlreadyExists(err) {
			return nil, err
		}
		if err := r.own(ctx, name); err != nil {
			return nil, err
		}
	}
	nobody := func(*v1alpha1.ReplicationExperiment) {}
	done, err := r.cluster.Follow(ctx, name, r.limit, nobody)
	if err == nil || done == nil || ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
		return done, err
	}
	abort := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"abort":true}}`))
	if failed := r.cluster.Patch(ctx, done.DeepCopy(), abort); failed != nil {
		return done, errors.Join(err, fmt.Errorf("abort it: %w", failed))
	}
	ended, late := r.cluster.Follow(ctx, name, abortion, nobody)
	if ended == nil {
		ended = done
	}
	return ended, errors.Join(fmt.Errorf("it took longer than %s and was aborted", r.limit), late)
}

// own refuses to take up what is not this campaign's.
func (r runner) own(ctx context.Context, name client.ObjectKey) error {
	stands := &v1alpha1.ReplicationExperiment{}
	if err := r.cluster.Get(ctx, name, stands); err != nil {
		return err
	}
	if stands.Labels[label] == r.id {
		return nil
	}
	whose := "of no campaign"
	if other := stands.Labels[label]; other != "" {
		whose = "of campaign " + other
	}
	return fmt.Errorf("experiment %s stands in the way: it is %s, made at %s, and now %s. Remove it (kubectl -n %s delete repx %s), or choose another -namespace",
		name.Name, whose, stands.CreationTimestamp.UTC().Format(time.RFC3339), cmp.Or(string(stands.Status.Verdict), stands.Status.Phase, "waiting"), name.Namespace, name.Name)
}

// put copies the experiment and its results into the book, and has a run go of which nothing is left to look at.
func (r runner) put(ctx context.Context, b *book, made *record, x *unstructured.Unstructured) error {
	whole := &unstructured.Unstructured{}
	whole.SetGroupVersionKind(x.GroupVersionKind())
	if err := r.cluster.Get(ctx, client.ObjectKeyFromObject(x), whole); err != nil {
		return client.IgnoreNotFound(err)
	}
	document, err := r.cluster.Results(ctx, client.ObjectKeyFromObject(x))
	if err != nil {
		return err
	}
	documents := map[string]any{made.Name + ".json": whole.Object}
	if document != nil {
		made.Stages, made.Spec, made.Provenance = runs.Stages(*document), &document.Spec, &document.Provenance
		documents[made.Name+"-results.json"] = document
	}
	for name, document := range documents {
		text, err := json.MarshalIndent(document, "", "  ")
		if err != nil {
			return err
		}
		if err := b.keep(name, text); err != nil {
			return err
		}
	}
	switch of := interest(*made); {
	case of == nothingToSee:
		return r.remove(ctx, x)
	case of >= lossy:
		return r.keepLogs(ctx, b, x)
	}
	return nil
}

// keepLogs of a run whose losses are to be understood: pods forget what they wrote.
func (r runner) keepLogs(ctx context.Context, b *book, x *unstructured.Unstructured) error {
	logs, err := r.cluster.Logs(ctx, client.ObjectKeyFromObject(x))
	if err != nil {
		return err
	}
	for name, text := range logs {
		if err := b.keep(name+".log", text); err != nil {
			return err
		}
	}
	return nil
}

// Interest is what a run's databases are still good for.
const (
	nothingToSee = iota
	inconclusive
	failed
	lossy // acknowledged writes are gone that were not meant to be
	invalid
)

// interest of a run. A loss that the goals ask for is none.
func interest(r record) int {
	v := r.verdict()
	if v == string(v1alpha1.VerdictInvalid) {
		return invalid
	}
	if n := lost(r); n != nil && *n > 0 && (v != string(v1alpha1.VerdictPassed) || !slices.ContainsFunc(r.Status.Goals, func(g v1alpha1.GoalStatus) bool {
		return g.Metric == "lostWrites"
	})) {
		return lossy
	}
	switch v {
	case string(v1alpha1.VerdictPassed):
		return nothingToSee
	case string(v1alpha1.VerdictInconclusive):
		return inconclusive
	}
	return failed
}

// thin removes runs from the cluster until no more are kept than are to be: those that tell least, and of these the latest.
func (r runner) thin(ctx context.Context, b *book) error {
	var kept v1alpha1.ReplicationExperimentList
	if err := r.cluster.List(ctx, &kept, client.MatchingLabels{label: r.id}); err != nil {
		return fmt.Errorf("list the runs that are kept: %w", err)
	}
	place := map[string]int{}
	for i, made := range b.runs {
		place[made.Name] = interest(made)*len(b.runs) - i
	}
	slices.SortFunc(kept.Items, func(a, b v1alpha1.ReplicationExperiment) int { return place[b.Name] - place[a.Name] })
	for i := r.keep; i < len(kept.Items); i++ {
		x := &unstructured.Unstructured{}
		x.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("ReplicationExperiment"))
		x.SetName(kept.Items[i].Name)
		x.SetNamespace(kept.Items[i].Namespace)
		if err := r.remove(ctx, x); err != nil {
			return err
		}
	}
	return nil
}

func (r runner) remove(ctx context.Context, x *unstructured.Unstructured) error {
	if _, err := r.cluster.Delete(ctx, x); err != nil {
		return err
	}
	return r.cluster.AwaitGone(ctx, x, removal)
}
