// Package wording says what was asked for, and whether a goal was met, in the same words wherever people read it. It is pure.
package wording

import (
	"fmt"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
)

// Nodes is the size of a topology: "3 nodes".
func Nodes(t v1alpha1.TopologySpec) string {
	if t.Nodes == 1 {
		return "1 node"
	}
	return fmt.Sprintf("%d nodes", t.Nodes)
}

// Stage is what a stage of the load was asked to be, by its name: "45 s of 80 requests/s". It is empty of one that the spec has not.
func Stage(spec v1alpha1.ReplicationExperimentSpec, name string) string {
	for _, s := range spec.Load.Stages {
		if s.Name != name {
			continue
		}
		text := fmt.Sprintf("%d s", s.DurationSeconds)
		switch {
		case s.RequestsPerSecond > 0:
			text += fmt.Sprintf(" of %d requests/s", s.RequestsPerSecond)
		case s.AtRest():
			text += " at rest"
		case s.ClosedUsers() > 0:
			text += fmt.Sprintf(" of %d users", s.ClosedUsers())
		default:
			text += " as the script defines"
		}
		if s.Discard {
			text += ", discarded"
		}
		return text
	}
	return ""
}

// Fault is what a fault was asked to be, by its name: "Kill of the Primary at 20 s". It is empty of one that the spec has not.
func Fault(spec v1alpha1.ReplicationExperimentSpec, name string) string {
	f := fault(spec, name)
	if f == nil {
		return ""
	}
	of := "the " + string(f.Target)
	switch {
	case f.Target == v1alpha1.TargetNode && f.Node != nil:
		of = "node " + strconv.Itoa(int(*f.Node))
	case f.Target == v1alpha1.TargetAllReplicas:
		of = "all replicas"
	}
	if f.PartitionFrom != "" {
		of += " from " + string(f.PartitionFrom)
	}
	return fmt.Sprintf("%s of %s at %d s", f.Action, of, f.AtSeconds)
}

// HeldFault is Fault with how long it was to hold, where it was.
func HeldFault(spec v1alpha1.ReplicationExperimentSpec, name string) string {
	text := Fault(spec, name)
	if f := fault(spec, name); f != nil {
		switch {
		case f.HoldSeconds > 0:
			text += fmt.Sprintf(", held for %d s", f.HoldSeconds)
		case f.HoldSeconds < 0:
			text += ", held until the audit"
		}
	}
	return text
}

func fault(spec v1alpha1.ReplicationExperimentSpec, name string) *v1alpha1.Fault {
	for i := range spec.Faults {
		if spec.Faults[i].Name == name {
			return &spec.Faults[i]
		}
	}
	return nil
}

// Met says what came of a goal: "met", "not met", "not measured", or "unknown" of one that the bounds of its figure leave open.
func Met(g v1alpha1.GoalStatus) string {
	switch {
	case g.Met == metav1.ConditionTrue:
		return "met"
	case g.Met == metav1.ConditionFalse:
		return "not met"
	case g.Measured == nil:
		return "not measured"
	}
	return "unknown"
}
