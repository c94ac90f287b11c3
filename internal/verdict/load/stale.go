package load

import (
	"slices"

	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/finding"
)

// staleReadsUnknown says why there is no count: a user that was lost cannot be read either.
func staleReadsUnknown(e evidence.Run, status *evidence.Status) []finding.Finding {
	if status.Load == nil || status.Load.StaleReads != nil {
		return nil
	}
	if e.Recorder.CheckedReads == 0 {
		return []finding.Finding{finding.Of(finding.StaleReadsNoRead)}
	}
	return []finding.Finding{finding.Of(finding.StaleReadsUnclear)}
}

// staleReads of users that are there in the end. A user that was lost is not found either, so its reads say nothing: they
// are left out when all lost writes and all that were not found are known by their ids. Where no such user was read, none could
// have shown.
func staleReads(e evidence.Run) *int64 {
	if e.Audit == nil || e.Audit.Writes == nil || e.Recorder.CheckedReads == 0 {
		return nil
	}
	all, lost := e.Recorder.StaleReads, e.Audit.Writes
	if lost.Lost == 0 {
		return &all
	}
	if int64(len(lost.LostIDs)) != lost.Lost {
		return nil
	}
	var known, stale int64
	for _, u := range e.Recorder.StaleUsers {
		known += u.Reads
		if _, gone := slices.BinarySearch(lost.LostIDs, u.WriteID); !gone {
			stale += u.Reads
		}
	}
	if known != all {
		return nil
	}
	return &stale
}
