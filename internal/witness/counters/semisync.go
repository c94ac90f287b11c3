package counters

import (
	"time"

	"replab.dev/internal/protocol"
)

// Commits are a server's semi-sync counters as read at one moment.
type Commits struct {
	Acknowledged   int64 // Rpl_semi_sync_source_yes_tx
	Unacknowledged int64 // Rpl_semi_sync_source_no_tx
	UpSeconds      int64 // Uptime, by which a server that was started again is known
}

// SemiSync adds up the commits of all nodes since the load began. What a server had counted before, such as the
// seeding, is left out. It is not safe for concurrent use.
type SemiSync struct {
	loadStart time.Time // zero until then
	nodes     map[string]commitSample
	result    protocol.SemiSyncResult
}

type commitSample struct {
	Commits
	at time.Time
}

// Start begins to count: the samples so far are the baseline. load is when the load began.
func (s *SemiSync) Start(load time.Time) { s.loadStart = load }

// Add takes one sample of a node.
func (s *SemiSync) Add(node string, at time.Time, c Commits) {
	last, known := s.nodes[node]
	if s.nodes == nil {
		s.nodes = map[string]commitSample{}
	}
	s.nodes[node] = commitSample{c, at}
	if s.loadStart.IsZero() {
		return
	}
	s.result.Samples++
	switch {
	case known && !restarted(last, c, at):
		s.result.AcknowledgedCommits += c.Acknowledged - last.Acknowledged
		s.result.UnacknowledgedCommits += c.Unacknowledged - last.Unacknowledged
	case known || at.Add(-time.Duration(c.UpSeconds)*time.Second).After(s.loadStart):
		// The server was started since, and counted from 0.
		s.result.AcknowledgedCommits += c.Acknowledged
		s.result.UnacknowledgedCommits += c.Unacknowledged
	}
	// Else this is the node's baseline: it could not be asked before the load, and may have counted the seeding.
}

// Result returns nil when no server could be asked since the load began.
func (s *SemiSync) Result() *protocol.SemiSyncResult {
	if s.result.Samples == 0 {
		return nil
	}
	return new(s.result)
}

// restarted tells whether the server came up anew between two samples: it is up for less than the time between them, or
// a counter went back. Uptime is in whole seconds, so one more is allowed for.
func restarted(last commitSample, c Commits, at time.Time) bool {
	return c.Acknowledged < last.Acknowledged || c.Unacknowledged < last.Unacknowledged ||
		c.UpSeconds+1 < last.UpSeconds || time.Duration(c.UpSeconds+1)*time.Second < at.Sub(last.at)
}
