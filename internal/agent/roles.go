package agent

import (
	"replab.dev/internal/wire"
)

// The role endpoints' decisions. Each gives the reason of a no, for people who ask by hand.

func isReady(v view) (bool, string) {
	if v.status == nil {
		return false, v.why
	}
	return true, "the server answers"
}

func isPrimary(v view, leaseHeld bool) (bool, string) {
	switch {
	case v.status == nil:
		return false, v.why
	case !v.status.Writable:
		return false, "the server is read-only"
	case !leaseHeld:
		return false, "the server is writable, but no lease stands"
	}
	return true, "the server is writable and its lease stands"
}

// isReplica does not ask whether the source can be reached: a replica whose primary died goes on serving reads, stale ones
// as they are, until the topology decides otherwise.
func isReplica(v view) (bool, string) {
	switch {
	case v.status == nil:
		return false, v.why
	case v.status.Writable:
		return false, "the server is writable"
	case v.replication == nil:
		return false, v.why
	case !v.replication.SQLRunning:
		return false, "the replication thread that applies does not run: " + v.replication.LastError
	}
	return true, "the server is read-only and applies what it receives"
}

// describe fills in what the server says; what it could not be asked stays absent.
func describe(s *wire.NodeState, v view) {
	s.LastError = v.why
	if v.server != nil {
		s.ServerPID = int64(v.server.PID)
	}
	if v.status != nil {
		s.Answers = true
		s.Writable = v.status.Writable
		s.ServerUUID = v.status.ServerUUID
		s.GTIDExecuted = v.status.GTIDExecuted
	}
	if v.replication != nil {
		s.GTIDRetrieved = v.replication.GTIDRetrieved
		s.SourceHost = v.replication.SourceHost
		s.IORunning = v.replication.IORunning
		s.SQLRunning = v.replication.SQLRunning
		s.LastError = v.replication.LastError
	}
}
