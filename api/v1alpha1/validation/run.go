package validation

import "fmt"

// run: a baseline that is no other experiment, and a deadline that passes while the load or a hold lasts.
func run(s *spec) {
	s.refuse(s.Baseline != nil && s.Baseline.Name == s.name, at("baseline.name"), "this is the experiment itself. Name another experiment, or remove baseline.")
	if s.DeadlineSeconds == nil {
		return
	}
	deadline, load := *s.DeadlineSeconds, s.Load.Seconds()
	s.refuse(deadline <= load, at("deadlineSeconds"), fmt.Sprintf("the load alone takes %d s, and deploying and the audit come on top. Raise it, or remove it.", load))
	for i, f := range s.Faults {
		end := f.AtSeconds + f.HoldSeconds
		s.refuse(deadline > load && f.HoldSeconds > 0 && deadline <= end, at("deadlineSeconds"),
			fmt.Sprintf("faults[%d] holds until %d s after the start of the load. Raise the deadline, or shorten the hold.", i, end))
	}
}
