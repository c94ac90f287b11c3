package runs

import (
	"replab.dev/internal/results"
)

// Stage is what a closed loop that counts has come to.
type Stage struct {
	Name      string  `json:"name"`
	Users     int64   `json:"users"`
	PerSecond float64 `json:"perSecond"` // requests that succeeded
	Failed    float64 `json:"failed"`    // a second
	P95       float64 `json:"p95"`       // latency in seconds
	P99       float64 `json:"p99"`
	Mean      float64 `json:"mean"`
	OfBound   float64 `json:"ofBound,omitempty"` // throughput against what the distance allows; 0: there is no bound
}

// Stages are those of a run that count and have users. One in which nothing succeeded is not among them.
func Stages(r results.Results) []Stage {
	if r.Recorder == nil {
		return nil
	}
	ofBound := map[string]float64{}
	if r.Status.Load != nil {
		for _, s := range r.Status.Load.Stages {
			if s.Distance != nil {
				ofBound[s.Name] = float64(s.Distance.OfBoundPermille) / 1000
			}
		}
	}
	var all []Stage
	for _, asked := range r.Spec.Load.Stages {
		for _, s := range r.Recorder.Stages {
			if s.Name != asked.Name || asked.Discard || asked.Users == 0 || s.Latency == nil || s.DurationMicroseconds == 0 {
				continue
			}
			seconds := float64(s.DurationMicroseconds) / 1e6
			all = append(all, Stage{
				Name: s.Name, Users: asked.Users, PerSecond: float64(s.Succeeded) / seconds, Failed: float64(s.Answered-s.Succeeded) / seconds,
				P95: float64(s.Latency.P95Microseconds) / 1e6, P99: float64(s.Latency.P99Microseconds) / 1e6, Mean: float64(s.Latency.MeanMicroseconds) / 1e6,
				OfBound: ofBound[s.Name],
			})
		}
	}
	return all
}
