package load

import (
	"math"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/wire"
)

// used sums what a server used in several stages.
type used struct {
	sum       v1alpha1.ResourceFigures
	cpu, time float64
}

func (u *used) add(r wire.NodeResources) {
	u.cpu += float64(r.CPUMillicores) * float64(r.DurationMicroseconds)
	u.time += float64(r.DurationMicroseconds)
	u.sum.MemoryPeakBytes = max(u.sum.MemoryPeakBytes, r.ResidentPeakBytes)
	u.sum.ThreadsPeak = max(u.sum.ThreadsPeak, r.ThreadsPeak)
	u.sum.BlockReadBytes += r.ReadBytes
	u.sum.BlockWrittenBytes += r.WrittenBytes
	u.sum.NetworkReceivedBytes += r.NetworkReceivedBytes
	u.sum.NetworkSentBytes += r.NetworkSentBytes
}

// figures are nil where nothing was sampled.
func (u *used) figures() *v1alpha1.ResourceFigures {
	if u.time == 0 {
		return nil
	}
	u.sum.CPUMillicores = int64(u.cpu / u.time)
	return &u.sum
}

// resources of a node over all stages that are neither discarded nor at rest.
func resources(e evidence.Run, node string) *v1alpha1.ResourceFigures {
	if e.Recorder == nil || e.Recorder.Incomplete != "" {
		return nil
	}
	left := map[string]bool{}
	for _, s := range e.Recorder.Stages {
		left[s.Name] = s.Discarded || atRest(e, s.Name)
	}
	var u used
	for _, r := range e.Recorder.Resources {
		if r.Node == node && !left[r.Stage] {
			u.add(r)
		}
	}
	return u.figures()
}

// resourcesIn a stage, of each node and process.
func resourcesIn(w *wire.RecorderResults, stage wire.StageResult) (all []v1alpha1.StageResources) {
	for _, r := range w.Resources {
		var u used
		u.add(r)
		if f := u.figures(); f != nil && r.Stage == stage.Name {
			all = append(all, v1alpha1.StageResources{Name: r.Node, ResourceFigures: *f, CPUPerRequestMicroseconds: perRequest(r.CPUMillicores, stage)})
		}
	}
	return all
}

// perRequest is the processor time for each answered request in microseconds, nil without one.
func perRequest(millicores int64, stage wire.StageResult) *int64 {
	if stage.Answered == 0 {
		return nil
	}
	spent := float64(millicores) / 1000 * float64(stage.DurationMicroseconds)
	return new(int64(math.Round(spent / float64(stage.Answered))))
}
