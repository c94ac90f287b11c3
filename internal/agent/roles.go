package agent

import "replab.dev/internal/agent/part"

// The role endpoints' decisions. Each gives the reason of a no, for people who ask by hand.

func isReady(v view) (bool, string) {
	if v.writable == nil {
		return false, v.why
	}
	return true, "the server answers"
}

// isPrimary is told whether the server, where it is writable, may be, and why not: it may where the topology has no leases, and
// its family adds nothing.
func isPrimary(v view, mayWrite bool, whyNot string) (bool, string) {
	switch {
	case v.writable == nil:
		return false, v.why
	case !*v.writable:
		return false, "the server is read-only"
	case !mayWrite:
		return false, whyNot
	}
	return true, "the server is writable"
}

// isReplica does not ask whether the source can be reached: a replica whose primary died goes on serving reads, stale ones
// as they are, until the topology decides otherwise.
func isReplica(v view) (bool, string) {
	switch {
	case v.writable == nil:
		return false, v.why
	case *v.writable:
		return false, "the server is writable"
	case v.replication == nil:
		return false, v.why
	case !v.replication.Applies:
		return false, "the replication thread that applies does not run: " + v.replication.LastError
	}
	return true, "the server is read-only and applies what it receives"
}

// mayWrite tells whether the server, where it is writable, is to take writes.
func (a *api) mayWrite() (bool, string) {
	switch {
	case a.part != nil:
		return a.part.Writes()
	case a.keeper != nil && !a.keeper.held():
		return false, "the server is writable, but no lease stands"
	}
	return true, ""
}

func (a *api) replica() (bool, string) {
	v := a.watcher.view()
	reader, decides := a.part.(part.Reader)
	if !decides {
		return isReplica(v)
	}
	if ok, why := isReady(v); !ok {
		return false, why
	}
	return reader.Reads()
}
