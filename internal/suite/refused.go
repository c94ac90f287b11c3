package suite

import (
	"fmt"
	"slices"

	"replab.dev/api/v1alpha1"
	"replab.dev/api/v1alpha1/validation"
)

// Try returns the experiment of a run with its defaults, and what is wrong with it.
type Try func(run v1alpha1.TrialRun) (x *v1alpha1.ReplicationExperiment, wrong []string, err error)

// Refused lists what is wrong with a suite beside its own fields: with drawn faults, with the spec of a variant, or with expectations that no trial
// measures. It tries one trial of each variant. With drawn faults it tries every round.
func Refused(s *v1alpha1.ReplicationSuite, try Try) (wrong []string, err error) {
	if why := tooManyNodes(&s.Spec); why != "" {
		return []string{why}, nil // the drawn faults would not be those that were asked for
	}
	rounds := int32(1)
	if s.Spec.DrawFaults != nil {
		rounds = s.Spec.Trials
	}
	trials := map[string]*v1alpha1.ReplicationExperiment{}
	for _, v := range s.Spec.Variants {
		var found []string
		for round := int32(1); round <= rounds && len(found) == 0; round++ { // rounds differ in their faults alone
			if trials[v.Name], found, err = try(Trial{v.Name, round}.run(s.Name, 1)); err != nil {
				return nil, err
			}
		}
		for _, sentence := range found {
			wrong = append(wrong, fmt.Sprintf("variant %s: %s", v.Name, sentence))
		}
	}
	if len(wrong) > 0 {
		return wrong, nil
	}
	return validation.Sentences(validation.Unmeasured(s, trials)), nil
}

// tooManyNodes says that a drawn fault would hit more nodes than a variant has, "" where none would.
func tooManyNodes(spec *v1alpha1.ReplicationSuiteSpec) string {
	if spec.DrawFaults == nil || len(spec.DrawFaults.Nodes) == 0 {
		return ""
	}
	all, err := specs(spec)
	if err != nil {
		return "" // refused with the trial
	}
	variant, has := fewestNodes(all)
	most := int(slices.Max(spec.DrawFaults.Nodes))
	if has == 0 || most <= has {
		return ""
	}
	return fmt.Sprintf("spec.drawFaults.nodes: a fault would hit %d nodes, and variant %s has only %d. Use at most %d, or raise the variant's topology.nodes.",
		most, spec.Variants[variant].Name, has, has)
}
