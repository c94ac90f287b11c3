package load

import (
	"math"
	"slices"
	"time"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/finding"
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

// resources of a node or another process over all stages that are neither discarded nor at rest.
func resources(e evidence.Run, name string) *v1alpha1.ResourceFigures {
	if e.Recorder == nil || e.Recorder.Incomplete != "" {
		return nil
	}
	var u used
	for _, stage := range BusyStages(e) {
		u.add(usedIn(e.Recorder, name, stage.Name))
	}
	return u.figures()
}

// BusyStages are neither discarded nor at rest.
func BusyStages(e evidence.Run) []wire.StageResult {
	return slices.DeleteFunc(slices.Clone(e.Recorder.Stages), func(s wire.StageResult) bool { return s.Discarded || atRest(e, s.Name) })
}

// usedIn a stage by a node or process, nothing where it was not sampled.
func usedIn(w *wire.RecorderResults, name, stage string) wire.NodeResources {
	i := slices.IndexFunc(w.Resources, func(r wire.NodeResources) bool { return r.Node == name && r.Stage == stage })
	if i < 0 {
		return wire.NodeResources{}
	}
	return w.Resources[i]
}

// busier names the process that used more of a processor than all servers together, under a closed loop: that asks as fast as it is answered, and
// then tells of this process rather than of the servers.
func busier(e evidence.Run) []finding.Finding {
	if !e.Whole() || !slices.ContainsFunc(e.Spec.Load.Stages, func(s v1alpha1.Stage) bool { return s.ClosedUsers() > 0 && !s.Discard }) {
		return nil
	}
	var servers, most int64
	busiest := ""
	for _, name := range sampled(e.Recorder) {
		f := resources(e, name)
		switch {
		case f == nil:
		case slices.Contains(e.Nodes, name):
			servers += f.CPUMillicores
		case f.CPUMillicores > most:
			busiest, most = name, f.CPUMillicores
		}
	}
	if servers == 0 || most <= servers {
		return nil
	}
	return []finding.Finding{finding.Of(finding.BusierThanServers, busiest, float64(most)/1000, float64(servers)/1000)}
}

// sampled are the names of what the recorder sampled, each once.
func sampled(w *wire.RecorderResults) (names []string) {
	for _, r := range w.Resources {
		if !slices.Contains(names, r.Node) {
			names = append(names, r.Node)
		}
	}
	return names
}

// mostUnsampled is how many times a node or a process may have been sampled in part in a stage. Each takes bounds, and the status has room for 2,048.
const mostUnsampled = 128

// manyUnsampled tells whether there were more. Then such resources are left out.
func manyUnsampled(w *wire.RecorderResults) bool {
	n := 0
	for _, stage := range w.Stages {
		for _, r := range w.Resources {
			if r.Stage == stage.Name && Unsampled(r.DurationMicroseconds, stage) > 0 {
				n++
			}
		}
	}
	return n > mostUnsampled
}

// resourcesIn a stage, of each node and process.
func resourcesIn(w *wire.RecorderResults, stage wire.StageResult) (all []v1alpha1.StageResources) {
	many := manyUnsampled(w)
	for _, r := range w.Resources {
		var u used
		u.add(r)
		if f := u.figures(); f != nil && r.Stage == stage.Name && (!many || Unsampled(r.DurationMicroseconds, stage) == 0) {
			all = append(all, v1alpha1.StageResources{Name: r.Node, ResourceFigures: *f, CPUPerRequestMicroseconds: perRequest(r, stage)})
		}
	}
	return all
}

// unsampledMost is how much of a stage may lie beyond its samples: its ends.
const unsampledMost = 2 * time.Second

// Unsampled is a time of a stage, in microseconds, without a server or without an answer. It is 0 where only the ends have no sample.
func Unsampled(took int64, stage wire.StageResult) int64 {
	if gap := stage.DurationMicroseconds - took; gap > unsampledMost.Microseconds() {
		return gap
	}
	return 0
}

// boundResources says where more may have been used than the samples tell.
func boundResources(b *figure.Bounds, e evidence.Run, s *evidence.Status) {
	for _, name := range sampled(e.Recorder) {
		for _, stage := range e.Recorder.Stages {
			took := usedIn(e.Recorder, name, stage.Name).DurationMicroseconds
			boundUsed(b, s, "load.stages["+stage.Name+"].resources["+name+"].", took, Unsampled(took, stage))
		}
		var took, gap int64
		for _, stage := range BusyStages(e) {
			r := usedIn(e.Recorder, name, stage.Name)
			took, gap = took+r.DurationMicroseconds, gap+Unsampled(r.DurationMicroseconds, stage)
		}
		boundUsed(b, s, "nodes["+name+"].resources.", took, gap)
	}
}

// boundUsed is for figures that were sampled for a time, and not for a gap.
func boundUsed(b *figure.Bounds, s *evidence.Status, prefix string, took, gap int64) {
	if gap == 0 {
		return
	}
	for _, name := range []string{
		"cpuMillicores", "cpuPerRequestMicroseconds", "memoryPeakBytes", "threadsPeak",
		"blockReadBytes", "blockWrittenBytes", "networkReceivedBytes", "networkSentBytes",
	} {
		value := figure.At(s, prefix+name)
		if value == nil {
			continue
		}
		least := *value
		if name == "cpuMillicores" { // it is a mean of the samples
			least = int64(float64(*value) * float64(took) / float64(took+gap))
		}
		b.AtLeast(prefix+name, least, finding.Of(finding.NotSampled, gap/1000).String())
	}
}

// perRequest is the processor time for each answered request in microseconds, nil without one.
func perRequest(r wire.NodeResources, stage wire.StageResult) *int64 {
	if stage.Answered == 0 {
		return nil
	}
	ran := stage.DurationMicroseconds
	if Unsampled(r.DurationMicroseconds, stage) > 0 {
		ran = r.DurationMicroseconds
	}
	spent := float64(r.CPUMillicores) / 1000 * float64(ran)
	return new(int64(math.Round(spent / float64(stage.Answered))))
}
