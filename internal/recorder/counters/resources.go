// Package counters turns samples of counters, which restart with their server, into sums of the load. It performs no IO.
package counters

import (
	"slices"
	"time"

	"replab.dev/internal/wire"
)

// Interval is how often counters are sampled.
const Interval = time.Second

// Sample is what the server of a node has counted.
type Sample[C any] struct {
	Node     string
	At       time.Time // it was not read before
	Missed   bool      // the server did not answer: there are no counts
	Counting bool      // whether a stage of the load was under way then that is not discarded
	Wrote    time.Time // when the node acknowledged its last write to a client, zero when it never did
	Counts   C
}

// origin is from where a sample of a process counts.
type origin int

const (
	fromLast     origin = iota // it is the process of the last sample
	fromUnknown                // it may be another process, or the same one whose clock was set back
	fromZero                   // it is another process, which began in the load
	fromBaseline               // nothing is known of the time before: its counters may be older than the load
)

// originOf a sample. last is the time of the sample before, zero without one. fell: a counter went back. up and was are uptimes in seconds.
func originOf(load, last, at time.Time, fell bool, was, up int64) origin {
	switch {
	case !last.IsZero() && fell:
		return fromZero
	case !last.IsZero() && younger(was, up, at.Sub(last)):
		return fromUnknown
	case !last.IsZero():
		return fromLast
	case at.Add(-time.Duration(up+1) * time.Second).After(load): // uptime is the difference of two whole seconds
		return fromZero
	}
	return fromBaseline
}

// younger reports whether an uptime grew by less than the time between two samples, allowing 1 s for whole seconds and 1 s for late answers.
func younger(was, is int64, between time.Duration) bool {
	return is+1 < was || time.Duration(is+1)*time.Second < between || time.Duration(is-was+2)*time.Second < between
}

// Resources sums what each node's server used in each stage. It is not safe for concurrent use.
type Resources struct {
	nodes  []string
	stages []string
	last   map[instance]sampled
	used   map[inStage]*usage
}

// instance is one of the processes of a name.
type instance struct{ node, at string }

// sampled is a sample with the stage that it was taken in.
type sampled struct {
	wire.Resources
	stage string
}

// gapMost is the longest time between two samples that counts for a stage which began in it.
const gapMost = 2 * Interval

// inStage is what a process used in a stage.
type inStage struct {
	instance
	stage string
}

type key struct{ node, stage string }

type usage struct {
	wire.NodeResources
	cpuMicroseconds int64
}

// NewResources returns sums for nodes and stages; results come in their order.
func NewResources(nodes, stages []string) *Resources {
	return &Resources{nodes: nodes, stages: stages, last: map[instance]sampled{}, used: map[inStage]*usage{}}
}

// Add takes a sample of a node. The usage since its previous sample counts for stage, "" for none. Several processes of one name are told apart by
// at, and summed.
func (r *Resources) Add(node, at, stage string, sample wire.Resources) {
	of := instance{node, at}
	before, known := r.last[of]
	r.last[of] = sampled{sample, stage}
	last := before.Resources
	took := sample.At.Sub(last.At.Time)
	if !known || stage == "" || took <= 0 { // a clock that went back: the differences are right, their time is not known
		return
	}
	if before.stage != stage && took > gapMost { // most of it was in stages before
		return
	}
	k := inStage{of, stage}
	u := r.used[k]
	if u == nil {
		u = &usage{NodeResources: wire.NodeResources{Node: node, Stage: stage}}
		r.used[k] = u
	}
	u.DurationMicroseconds += took.Microseconds()
	u.ResidentPeakBytes = max(u.ResidentPeakBytes, sample.ResidentBytes)
	u.ThreadsPeak = max(u.ThreadsPeak, sample.Threads)
	u.NetworkReceivedBytes += since(last.NetworkReceivedBytes, sample.NetworkReceivedBytes)
	u.NetworkSentBytes += since(last.NetworkSentBytes, sample.NetworkSentBytes)
	if sample.ServerPID == 0 { // no server runs: what the last one used after the sample before is not known
		return
	}
	if sample.ServerPID != last.ServerPID {
		last = wire.Resources{}
	}
	u.cpuMicroseconds += since(last.CPUMicroseconds, sample.CPUMicroseconds)
	u.ReadBytes += since(last.ReadBytes, sample.ReadBytes)
	u.WrittenBytes += since(last.WrittenBytes, sample.WrittenBytes)
}

// since returns how far a counter moved; one that went back began at 0 again.
func since(last, now int64) int64 {
	if now < last {
		return now
	}
	return now - last
}

// Result returns one entry for each node and stage that was sampled at least twice.
func (r *Resources) Result() []wire.NodeResources {
	var all []wire.NodeResources
	for _, node := range r.nodes {
		for _, stage := range r.stages {
			if u := r.together(node, stage); u.DurationMicroseconds > 0 {
				u.CPUMillicores = u.cpuMicroseconds * 1000 / u.DurationMicroseconds
				all = append(all, u.NodeResources)
			}
		}
	}
	return slices.Clip(all)
}

// together sums the processes of a name, over the time of the one that was seen longest. Their peaks may not have been at the same time.
func (r *Resources) together(node, stage string) usage {
	sum := usage{NodeResources: wire.NodeResources{Node: node, Stage: stage}}
	for k, u := range r.used {
		if k.node != node || k.stage != stage {
			continue
		}
		sum.DurationMicroseconds = max(sum.DurationMicroseconds, u.DurationMicroseconds)
		sum.cpuMicroseconds += u.cpuMicroseconds
		sum.ResidentPeakBytes += u.ResidentPeakBytes
		sum.ThreadsPeak += u.ThreadsPeak
		sum.ReadBytes += u.ReadBytes
		sum.WrittenBytes += u.WrittenBytes
		sum.NetworkReceivedBytes += u.NetworkReceivedBytes
		sum.NetworkSentBytes += u.NetworkSentBytes
	}
	return sum
}

// clockWindow is how many samples of a clock the narrowest is taken of: most answers are delayed somewhere.
const clockWindow = 10

// Clock bounds how far another process's clock is ahead of this one's. The zero value has no bounds. It is not safe for concurrent use.
type Clock struct {
	window  bracket // the narrowest so far
	samples int     // in the window
	all     bracket // of all windows: the clock may have drifted
	windows int
	// odd are the samples that cannot be true together with others: the clock was set, or is another one now.
	odd     bracket
	stepped time.Duration // by how much at least, 0 without such samples
}

// bracket is how far the clock is ahead at least and at most; below 0 it is behind.
type bracket struct{ least, most time.Duration }

func (b bracket) width() time.Duration { return b.most - b.least }

func (b bracket) with(o bracket) bracket { return bracket{min(b.least, o.least), max(b.most, o.most)} }

// apart is how far two brackets are from each other, at most 0 when they may be true together.
func (b bracket) apart(o bracket) time.Duration { return max(b.least-o.most, o.least-b.most) }

// Add takes the time that the clock told between a question and its answer.
func (c *Clock) Add(asked, told, answered time.Time) {
	b := bracket{told.Sub(answered), told.Sub(asked)}
	if c.windows > 0 {
		c.compare(c.all, b)
	}
	if c.samples == 0 {
		c.window = b
	} else {
		c.compare(c.window, b)
		if b.width() < c.window.width() {
			c.window = b
		}
	}
	if c.samples++; c.samples < clockWindow {
		return
	}
	c.samples = 0
	if c.windows++; c.windows == 1 {
		c.all = c.window
		return
	}
	c.all = c.all.with(c.window)
}

// compare keeps two brackets that cannot both be true of one clock that runs as this one does.
func (c *Clock) compare(known, b bracket) {
	apart := known.apart(b)
	if apart <= 0 {
		return
	}
	if c.stepped == 0 {
		c.odd = known
	}
	c.odd = c.odd.with(known).with(b)
	c.stepped = max(c.stepped, apart)
}

// Ahead returns the bounds, if known. Samples after the last whole window count if there was none, or if they contradict it.
func (c *Clock) Ahead() (least, most time.Duration, known bool) {
	b := c.all
	if c.windows == 0 {
		b = c.window
	}
	if c.stepped > 0 {
		b = b.with(c.odd)
	}
	return b.least, b.most, c.windows > 0 || c.samples > 0
}

// Result returns the bounds under this name, if known.
func (c *Clock) Result(name string) (wire.Clock, bool) {
	least, most, known := c.Ahead()
	return wire.Clock{
		Name: name, LeastAheadMicroseconds: least.Microseconds() - 1, MostAheadMicroseconds: most.Microseconds() + 1, // rounded outwards
		SteppedMicroseconds: c.stepped.Microseconds(),
	}, known
}
