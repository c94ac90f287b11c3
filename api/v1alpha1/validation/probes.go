package validation

import (
	"fmt"
)

// probes: intervals in which nothing is measured, and settings of a probe that does not run.
func probes(s *spec) {
	lag, load := s.Probes.Lag, s.Load.Seconds()*1000
	runs := lag.IntervalMilliseconds > 0 && s.Topology.Nodes > 1
	sizes := len(lag.SweepPayloadBytes)
	s.refuse(sizes > 0 && !runs, at("probes.lag.sweepPayloadBytes"), "the lag probe does not run. Set topology.nodes to 2 or more and probes.lag.intervalMilliseconds above 0, or remove it.")
	s.refuse(lag.IntervalMilliseconds == 0 && sizes == 0 && lag.PayloadBytes != 100 && lag.PayloadBytes != 0, at("probes.lag.payloadBytes"),
		"the lag probe does not run. Set probes.lag.intervalMilliseconds above 0, or remove it.")
	s.refuse(sizes > 0 && lag.PayloadBytes != 100, at("probes.lag.payloadBytes"), "sweepPayloadBytes replaces it. Remove one of them.")
	s.refuse(runs && lag.IntervalMilliseconds*int64(max(sizes, 1)) > load, at("probes.lag.intervalMilliseconds"),
		fmt.Sprintf("the load ends at %d ms, before every size was written once. Lower the interval, or set 0.", load))
	s.refuse(s.Probes.Availability.IntervalMilliseconds > load, at("probes.availability.intervalMilliseconds"),
		fmt.Sprintf("the load ends at %d ms, before the second write. Lower the interval, or set 0.", load))
}
