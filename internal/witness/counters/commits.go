package counters

import (
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

// Commits adds up the commits of all nodes since the load began. What a server had counted before, such as the
// seeding, is left out. It is not safe for concurrent use.
type Commits struct {
	loadStart time.Time // zero until then
	nodes     map[string]*commitCount
}

// commitCount is one node's account.
type commitCount struct {
	last      engine.Commits
	at        time.Time // of the last sample, zero without one
	sum       commitSum
	alone     aloneSum
	samples   int64
	uncounted time.Duration
}

// Start begins to count: the samples so far are the baseline. load is when the load began.
func (s *Commits) Start(load time.Time) { s.loadStart = load }

// Add takes one sample.
func (s *Commits) Add(x Sample[engine.Commits]) {
	if x.Missed {
		return
	}
	if s.nodes == nil {
		s.nodes = map[string]*commitCount{}
	}
	n := s.nodes[x.Node]
	if n == nil {
		n = &commitCount{}
		s.nodes[x.Node] = n
	}
	if !s.loadStart.IsZero() {
		n.add(s.loadStart, x.At, x.Counts, x.Wrote)
	}
	n.last, n.at = x.Counts, x.At
}

func (n *commitCount) add(load, at time.Time, c engine.Commits, wrote time.Time) {
	n.samples++
	known := !n.at.IsZero()
	began := at.Add(-time.Duration(c.UpSeconds) * time.Second)
	switch {
	case known && !n.restarted(c, at):
		counted := interval(n.last, c)
		n.sum.add(counted)
		if c.Waiting != nil {
			n.alone.add(n.at, at, *n.last.Waiting, *c.Waiting, counted.Transactions)
		}
		return
	case known || began.After(load):
		// The server was started since, and counted from 0. What the one before it had counted went with that one. Of one that was
		// not seen before, any transaction may be new.
		n.sum.add(interval(engine.Commits{Transactions: n.last.Transactions}, c))
	default:
		// This is the node's baseline: it could not be asked before the load, and may have counted the seeding.
		began = at
	}
	from := load
	if n.at.After(load) {
		from = n.at
	}
	if c.Waiting != nil { // of the time before this sample a process that counts no waits tells nothing
		began = at
		n.alone.begin(from, at, *c.Waiting)
	}
	if wrote.Before(began) {
		began = wrote
	}
	n.uncounted += max(began.Sub(from), 0)
}

// restarted tells whether the server came up anew between two samples: by its uptime, or since a counter went back.
func (n *commitCount) restarted(c engine.Commits, at time.Time) bool {
	return c.Acknowledged < n.last.Acknowledged || c.Unacknowledged < n.last.Unacknowledged ||
		younger(n.last.UpSeconds, c.UpSeconds, at.Sub(n.at))
}

// Result returns the sums of the nodes that were sampled since the load began, and those that wrote, which are given with
// the time of their last write.
func (s *Commits) Result(wrote map[string]time.Time) *wire.CommitsResult {
	names := maps.Clone(wrote)
	if names == nil {
		names = map[string]time.Time{}
	}
	for name, n := range s.nodes {
		if n.samples > 0 {
			names[name] = wrote[name]
		}
	}
	r := &wire.CommitsResult{}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		n := wire.NodeCommits{Name: name}
		if c := s.nodes[name]; c != nil {
			n.AcknowledgedWaits, n.UnacknowledgedWaits, n.Samples = c.sum.acknowledged, c.sum.unacknowledged, c.samples
			n.UnacknowledgedCommits, n.UnacknowledgedCommitsAtMost = c.sum.bounds()
			n.UnacknowledgedCommits += c.alone.least
			n.UnacknowledgedCommitsAtMost += c.alone.atMost
			n.AloneSpans, n.AloneMicroseconds = c.alone.spans, c.alone.alone.Microseconds()
			n.UncountedMicroseconds = (c.uncounted + max(wrote[name].Sub(c.at), 0)).Microseconds()
		}
		if at := wrote[name]; !at.IsZero() {
			n.LastWriteAt = new(metav1.NewMicroTime(at))
		}
		r.Nodes = append(r.Nodes, n)
		r.UnacknowledgedCommits += n.UnacknowledgedCommits
		r.UnacknowledgedCommitsAtMost += n.UnacknowledgedCommitsAtMost
	}
	return r
}
