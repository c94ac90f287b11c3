package main

import (
	"fmt"
	"strings"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
)

// lostWhileDegraded are those of the lost, at most, that were acknowledged while the primary may have waited for no standby, nil where nobody can tell.
func lostWhileDegraded(r record) *int64 {
	if r.Status == nil || r.Status.Writes == nil {
		return nil
	}
	return figure.Read(r.Status, "writes.lostWhileDegraded").AtMost
}

// withSets are the runs whose sets of writes do not contradict each other.
func withSets(runs []record) (all []record) {
	for _, r := range runs {
		if r.Status != nil && r.Status.Verdict != v1alpha1.VerdictInvalid {
			all = append(all, r)
		}
	}
	return all
}

// sumDegraded says how many of the lost writes asynchronous replication may lose, and in how many runs a primary took its own place again.
func sumDegraded(b *strings.Builder, runs []record) {
	atLeast := ""
	var all, least, most, known, untold, again int64
	for _, r := range withSets(runs) {
		if len(r.Status.RestartsInPlace) > 0 {
			again++
		}
		switch w := r.Status.Writes; {
		case w == nil || w.Lost == nil || *w.Lost == 0:
		case w.LostWhileDegraded == nil:
			untold++
		default:
			all, least, most, known = all+*w.Lost, least+*w.LostWhileDegraded, most+*lostWhileDegraded(r), known+1
			if !figure.Read(r.Status, "writes.lost").IsExact() {
				atLeast = "at least "
			}
		}
	}
	if known > 0 {
		fmt.Fprintf(b, "Of %s%d writes that were lost in %d runs, %d to %d were acknowledged while the primary may have waited for no standby.\n", atLeast, all, known, least, most)
	}
	if known > 0 && untold > 0 {
		fmt.Fprintf(b, "In %d more runs writes were lost of which that is not told: the reasons of these runs say why.\n", untold)
	}
	if again > 0 {
		fmt.Fprintf(b, "In %d runs a primary lost its server and took its place again: an outage, and no failover.\n", again)
	}
}
