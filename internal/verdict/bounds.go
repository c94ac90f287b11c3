package verdict

import (
	"fmt"
	"slices"
	"strings"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/compare"
	"replab.dev/internal/figure"
	"replab.dev/internal/wire"
)

type status = v1alpha1.ReplicationExperimentStatus

// stateFigureBounds writes down which figures are not exact, or absent, and why. Whoever reads a figure reads this, and judges it no more.
func stateFigureBounds(e Evidence, s *status) {
	var b figure.Bounds
	for _, concern := range []func(*figure.Bounds, Evidence, *status){boundLoad, boundLag, boundCommits, boundGroup, boundOutages, boundWrites, sayAbsent} {
		concern(&b, e, s)
	}
	s.Bounds = b
}

func boundLoad(b *figure.Bounds, e Evidence, s *status) {
	if s.Load == nil {
		return
	}
	boundStage(b, "load.", e.Recorder.Load, s.Load.StageFigures, compare.Contradicted(e.Spec, s.Load))
	for i, stage := range s.Load.Stages { // they are the recorder's
		contradicted := ""
		if stage.ClosedLoopHolds == "False" {
			contradicted = compare.LoopBroken(stage.Name)
		}
		boundStage(b, "load.stages["+stage.Name+"].", e.Recorder.Stages[i], stage.StageFigures, contradicted)
	}
	if s.Load.StaleReads != nil && *s.Load.StaleReads < e.Recorder.StaleReads {
		b.AtLeast("load.staleReads", *s.Load.StaleReads, "reads of users that were lost later may have been stale")
	}
}

func boundStage(b *figure.Bounds, prefix string, r wire.StageResult, f v1alpha1.StageFigures, contradicted string) {
	switch least, most := rate(r); {
	case least == nil:
	case most == nil:
		b.AtLeast(prefix+"requestsPerSecondMilli", *least, compare.Paused(f))
		b.AtLeast(prefix+"requestsPerSecond", *least/1000, compare.Paused(f))
	case *most > *least:
		b.Between(prefix+"requestsPerSecondMilli", *least, *most, compare.Paused(f))
		b.Between(prefix+"requestsPerSecond", *least/1000, (*most+999)/1000, compare.Paused(f))
	}
	if f.Latency == nil {
		return
	}
	if contradicted != "" {
		b.Unknown(prefix+"latency.meanMicroseconds", contradicted)
	}
	for _, p := range []v1alpha1.Percentile{v1alpha1.P50, v1alpha1.P95, v1alpha1.P99, v1alpha1.Max} {
		path := prefix + "latency." + string(p)
		if contradicted != "" {
			b.Unknown(path, contradicted)
		} else if slices.Contains(lowerLatencies(r.Latency, f.DroppedIterations), p) {
			b.AtLeast(path, *figure.At(f.Latency, string(p)), whyLower(p, f))
		}
	}
}

func boundLag(b *figure.Bounds, e Evidence, s *status) {
	if s.Replication != nil && s.Replication.Lag != nil {
		most := e.Recorder.Lag.AtMostMicroseconds
		if len(overlooked(e)) > 0 {
			most = nil
		}
		boundPercentiles(b, "replication.lag.", s.Replication.Lag, lowerLags(e), most, whyLagLower(e))
	}
	if e.Recorder == nil || e.Recorder.Lag == nil {
		return
	}
	for _, n := range s.Nodes {
		for _, of := range e.Recorder.Lag.Nodes {
			if of.Name == n.Name {
				boundPercentiles(b, "nodes["+n.Name+"].lag.", n.Lag, of.LowerBounds, nil, "the node had not shown all writes, or the recorder stood still")
			}
		}
	}
}

func boundPercentiles(b *figure.Bounds, prefix string, lag *v1alpha1.LagStatus, lower []v1alpha1.Percentile, most *int64, because string) {
	if lag == nil {
		return
	}
	for _, p := range lower {
		value := figure.At(lag, string(p))
		switch {
		case value == nil:
		case most != nil:
			b.Between(prefix+string(p), *value, *most, because)
		default:
			b.AtLeast(prefix+string(p), *value, because)
		}
	}
}

// whyLagLower is the first of the causes that there are.
func whyLagLower(e Evidence) string {
	l := e.Recorder.Lag
	switch nodes := behind(e.Recorder); {
	case l.Unwatched > 0:
		return fmt.Sprintf("no replica was there to watch for %d of %d rows of the probe", l.Unwatched, l.Acknowledged)
	case len(overlooked(e)) > 0:
		return fmt.Sprintf("the probe did not see node %s follow again", overlooked(e)[0])
	case len(nodes) > 0:
		return fmt.Sprintf("node %s had not shown %d rows of the probe", nodes[0].Name, nodes[0].Unseen-nodes[0].Lost)
	}
	return "the recorder stood still"
}

func boundCommits(b *figure.Bounds, e Evidence, s *status) {
	r := s.Replication
	if r == nil || r.DegradedCommits == nil {
		return
	}
	const path = "replication.degradedCommits"
	if nodes := unsampled(e.Recorder); len(nodes) > 0 {
		b.AtLeast(path, *r.DegradedCommits, fmt.Sprintf("node %s was not sampled for up to %d ms", nodes[0].Name, milliseconds(nodes[0].UncountedMicroseconds)))
	} else {
		b.Between(path, *r.DegradedCommits, e.Recorder.Commits.DegradedCommitsAtMost, "commits that are flushed together wait once")
	}
	if r.DegradedMilliseconds != nil {
		b.AtLeast("replication.degradedMilliseconds", *r.DegradedMilliseconds, "it is sampled")
	}
}

func boundGroup(b *figure.Bounds, e Evidence, s *status) {
	if s.Replication != nil && s.Replication.Group != nil {
		boundMember(b, "replication.group.", groupStatus(e.Recorder), len(uncountedMembers(e.Recorder)) > 0)
	}
	for _, n := range s.Nodes {
		uncounted := slices.ContainsFunc(uncountedMembers(e.Recorder), func(m wire.NodeGroup) bool { return m.Name == n.Name })
		boundMember(b, "nodes["+n.Name+"].group.", nodeGroup(e.Recorder, n.Name), uncounted)
	}
}

func boundMember(b *figure.Bounds, prefix string, g *groupFigures, uncounted bool) {
	if g == nil {
		return
	}
	const unsampled = "a server was not sampled for a part of the time"
	for _, name := range []string{"certificationFailures", "forcedAborts", "deadlocks"} {
		if value := figure.At(g.GroupFigures, name); value != nil && uncounted {
			b.AtLeast(prefix+name, *value, unsampled)
		}
	}
	if g.FlowControlPausedPermille != nil && g.pausedAtMost != nil {
		b.Between(prefix+"flowControlPausedPermille", *g.FlowControlPausedPermille, *g.pausedAtMost, unsampled)
	}
	if g.ReceiveQueueMax == nil {
		return
	}
	if g.queueAtMost == nil {
		b.AtLeast(prefix+"receiveQueueMax", *g.ReceiveQueueMax, unsampled)
		return
	}
	b.Between(prefix+"receiveQueueMax", *g.ReceiveQueueMax, *g.queueAtMost, "the server's maximum is since its start")
}

func boundOutages(b *figure.Bounds, e Evidence, s *status) {
	each, all, known := outages(e)
	if !known {
		return
	}
	for _, o := range each {
		for _, i := range o.faults {
			boundSilence(b, "faults["+s.Faults[i].Name+"].outageMilliseconds", o.silence)
		}
	}
	boundSilence(b, "outageMilliseconds", all)
	if s.Failover == nil || s.Failover.OutageMilliseconds == nil {
		return
	}
	gap, _, _ := takeover(e)
	boundSilence(b, "failover.outageMilliseconds", slept(gap))
	clock := s.Failover.Clock
	if clock == nil {
		return
	}
	if by := milliseconds((clock.MostAheadMicroseconds - clock.LeastAheadMicroseconds + 1) / 2); by > 0 { // the middle of the clock's bounds was taken
		for _, name := range []string{"detectionMilliseconds", "routingMilliseconds"} {
			if v := figure.At(s.Failover, name); v != nil {
				b.Between("failover."+name, *v-by, *v+by+1, "it rests on two clocks") // it was cut to whole milliseconds
			}
		}
	}
}

func boundSilence(b *figure.Bounds, path string, s silence) {
	low, high := s.bounds()
	if s.endless {
		b.AtLeast(path, low, "it had not ended when the probe did")
		return
	}
	b.Between(path, low, high, "the recorder itself did not always run, or clocks differ")
}

func boundWrites(b *figure.Bounds, e Evidence, s *status) {
	if s.Writes == nil || s.Writes.Present == nil {
		return
	}
	if why := riskless(e); why != "" && s.Writes.Lost != nil {
		b.AtLeast("writes.lost", *s.Writes.Lost, why)
	} else if why != "" {
		b.Unknown("writes.lost", why)
	}
	if least, most, _ := lossesWhileDegraded(e); least != nil && most != nil {
		b.Between("writes.lostWhileDegraded", *least, *most, "their times are known to some milliseconds")
	}
	if e.Audit == nil {
		return
	}
	for _, a := range e.Audit.Nodes {
		if why := dataGone(e, a); why != "" {
			b.Unknown("nodes["+a.Name+"].ghostWrites", why)
			b.Unknown("ghostWrites", "those of node "+a.Name+" are unknown: "+why)
		}
	}
}

// sayAbsent says of the figures that are absent what is known of why. Of the others the catalogue has the usual cause.
func sayAbsent(b *figure.Bounds, e Evidence, s *status) {
	for _, entry := range figure.All() {
		said := slices.ContainsFunc(*b, func(o v1alpha1.BoundStatus) bool { return o.Figure == entry.Path })
		if why := whyAbsent(e, entry.Path); why != "" && !said && (entry.Main || entry.Goal) && figure.At(s, entry.Path) == nil {
			b.Unknown(entry.Path, why)
		}
	}
}

// whyAbsent is "" where the evidence has nothing that is missing.
func whyAbsent(e Evidence, path string) string {
	of, _, _ := strings.Cut(path, ".")
	switch r := e.Recorder; {
	case r == nil:
		return "the recorder's results are missing"
	case (of == "writes" || of == "ghostWrites") && e.Audit == nil:
		return "the tables were not audited"
	case (of == "writes" || of == "ghostWrites") && e.Audit.Failed != "":
		return "the audit failed"
	case of == "writes" || of == "ghostWrites":
		return ""
	case r.Incomplete != "":
		return "the recorder saw a part of the load only: " + r.Incomplete
	case path == "replication.degradedCommits" && r.Commits != nil:
		return notSampled(r)
	case strings.HasPrefix(path, "replication.group.") && r.Group != nil:
		return groupUnread(r)
	}
	return ""
}

// groupUnread says why the counters of a group's members are not stated, "" where they are.
func groupUnread(r *wire.RecorderResults) string {
	if name := unread(r); groupUnknown(r) == "" && name != "" {
		return fmt.Sprintf("the counters of node %s could not be read", name)
	}
	return groupUnknown(r)
}
