package experiment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"replab.dev/api/v1alpha1"
	"replab.dev/controllers/experiment/distance"
)

// linksPatience is how long agents may take to set links, or to measure round trips.
const linksPatience = 2 * time.Minute

const measuringMessage = "measuring the round trips of topology.links"

// linkAfter is how long after the last stage without distance the links are set: nearly all of its requests have had their answers by
// then, and the verdict knows of those that have not.
const linkAfter = time.Second

// beginDistance puts the nodes at their distance and has it measured: so the load does not begin before that is as the spec says, and
// none of it comes at another. For stages without distance the links are then ended again, which is measured too.
func beginDistance(ctx context.Context, run *Run) (Outcome, error) {
	scene, err := distanceOf(ctx, run)
	if err != nil || scene == nil {
		return Done(), err
	}
	if err = putApart(ctx, scene, timeWithoutDistance(run) > 0); err == nil {
		return Done(), nil
	}
	if waited(run, v1alpha1.AwaitedLinks) > linksPatience {
		return Terminal(v1alpha1.ReasonLinksNotSet, "topology.links could not be put into effect within %s: %v", linksPatience, err), nil
	}
	return Wait(time.Second, v1alpha1.ReasonSettingLinks, "putting topology.links into effect"), nil
}

func putApart(ctx context.Context, scene *distance.Scene, without bool) error {
	if !distance.Began(scene) {
		if err := distance.Set(ctx, scene); err != nil {
			return err
		}
		if err := distance.Measure(ctx, scene, distance.BeforeLoad); err != nil {
			return err
		}
	}
	if scene.WithoutDistance = without; !without {
		return distance.Set(ctx, scene) // of a pod that came meanwhile
	}
	if err := distance.Set(ctx, scene); err != nil {
		return err
	}
	return distance.Measure(ctx, scene, distance.WithoutDistance)
}

// timeWithoutDistance is how long the load's stages without distance take.
func timeWithoutDistance(run *Run) time.Duration {
	var d time.Duration
	for _, s := range run.Spec.Load.Stages[:run.Spec.Load.StagesWithoutDistance()] {
		d += time.Duration(s.DurationSeconds) * time.Second
	}
	return d
}

// keepDistance sets links again where a pod has come into another's place, and for the first time when the stages without distance are
// over, by the recorder's clock. What does not succeed is tried again by the next look: the load goes on meanwhile, and the verdict knows
// by what is in the status.
func keepDistance(ctx context.Context, run *Run) error {
	scene, err := distanceOf(ctx, run)
	if err != nil || scene == nil || run.Status.Distance == nil {
		return err
	}
	scene.Loaded = true
	far := func(n v1alpha1.LinkedNodeStatus) bool { return !n.WithoutDistance }
	if without := timeWithoutDistance(run); without > 0 && !slices.ContainsFunc(run.Status.Distance.Nodes, far) {
		w, err := run.Snapshot.Recorder(ctx)
		scene.WithoutDistance = err != nil || w.Now == nil || w.LoadStartedAt == nil || w.Now.Sub(w.LoadStartedAt.Time) < without+linkAfter
	}
	_ = distance.Set(ctx, scene) // see above
	distance.Look(ctx, scene)
	return nil
}

// endDistance has the round trips measured again, takes down what came of the links, and ends them. What cannot be had in time stays
// absent.
func endDistance(ctx context.Context, run *Run) (Outcome, error) {
	scene, err := distanceOf(ctx, run)
	if err != nil || scene == nil || run.Status.Distance != nil && run.Status.Distance.RemovedTime != nil {
		return Done(), err
	}
	late := waited(run, v1alpha1.AwaitedLinks) > linksPatience
	if !reachedAny(run, v1alpha1.MilestoneLinksMeasured) {
		err := errors.Join(distance.ReadCounts(ctx, scene), distance.Measure(ctx, scene, distance.AfterLoad))
		if err != nil && !late {
			return Wait(time.Second, v1alpha1.ReasonMeasuringLinks, measuringMessage), nil
		}
		reach(run, v1alpha1.MilestoneLinksMeasured) // written down before what was measured is no more
		return Wait(0, v1alpha1.ReasonMeasuringLinks, measuringMessage), nil
	}
	if err := distance.Clear(ctx, scene); err != nil && !late {
		return Wait(time.Second, v1alpha1.ReasonMeasuringLinks, measuringMessage), nil
	}
	return Done(), nil
}

// clearDistance ends the links of a run that ended before its time.
func clearDistance(ctx context.Context, run *Run) error {
	scene, err := distanceOf(ctx, run)
	if err != nil || scene == nil || run.Status.Distance == nil || run.Status.Distance.RemovedTime != nil {
		return err
	}
	return distance.Clear(ctx, scene)
}

// distanceOf is what the links' package decides on, and acts with; nil without links.
func distanceOf(ctx context.Context, run *Run) (*distance.Scene, error) {
	if len(run.Spec.Topology.Links) == 0 {
		return nil, nil
	}
	pods, err := run.Snapshot.Pods(ctx)
	if err != nil {
		return nil, fmt.Errorf("find the pods of topology.links: %w", err)
	}
	return &distance.Scene{
		Spec: &run.Spec, Status: &run.Status.Distance, Nodes: run.Plan.Nodes, Pods: pods, Now: run.Now, Token: run.Snapshot.Token, Agents: run.Processes,
	}, nil
}
