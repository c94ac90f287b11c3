// Package story tells a run in sentences, from the figures of its results document. It computes no figure of its own, and is pure.
package story

import (
	"fmt"
	"math"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
	"replab.dev/internal/report/figures"
)

// Headline says in one sentence what the faults did: lost writes and the outage.
func Headline(d *figures.Document) string {
	if d.Status.Verdict == v1alpha1.VerdictInvalid {
		return sentence("Don't use the figures", first(d.Status.Reasons))
	}
	text := lost(d) + ", and " + outage(d)
	if !d.Decided() {
		text += ", but the run is inconclusive"
	}
	if names := unseen(d); len(names) > 0 {
		text += "; not known to have been carried out: " + strings.Join(names, ", ")
	}
	text += "."
	return strings.ToUpper(text[:1]) + text[1:]
}

func first(reasons []string) string {
	if len(reasons) == 0 {
		return ""
	}
	return reasons[0]
}

func lost(d *figures.Document) string {
	f := d.Figure("status.writes.lost")
	switch {
	case f.Value == nil:
		return "whether acknowledged writes were lost is unknown"
	case f.Doubtful():
		return "the number of lost writes is uncertain"
	case *f.Value == 0 && f.IsExact() && !d.Decided():
		return "no lost write was found"
	case *f.Value == 0 && f.IsExact():
		return "no acknowledged write was lost"
	}
	were := " were lost"
	if *f.Value == 1 && f.IsExact() {
		were = " was lost"
	}
	if all := d.Figure("status.writes.acknowledged"); all.Value != nil && f.IsExact() {
		return f.Brief() + " of " + all.Brief() + " acknowledged writes" + were
	}
	return words(f) + " acknowledged writes" + were
}

// words for a figure have no signs for bounds, and name what contradicts it.
func words(f figure.Figure) string {
	if f.Doubtful() {
		return f.Text()
	}
	return strings.NewReplacer("≥", "at least", "≤", "at most").Replace(f.Brief())
}

func outage(d *figures.Document) string {
	f := d.Figure("status.outageMilliseconds")
	switch {
	case f.Value == nil:
		return "the outage is unknown"
	case f.Doubtful():
		return "the longest outage is uncertain"
	case len(d.Status.Faults) == 0:
		return "the longest time without an acknowledged write was " + words(f)
	}
	text := "the longest outage was " + words(f)
	for _, of := range d.Status.Faults {
		if o := d.OutageOf(of); o != nil && *of.OutageMilliseconds == *f.Value && alone(d, of, o) {
			return text + ", after " + of.Name + " at " + When(d, of)
		}
	}
	return text
}

// alone tells of an outage that did not begin before its fault, and that no other fault was near. Clocks and probes are less than a second off.
func alone(d *figures.Document, of v1alpha1.FaultStatus, o *figures.Outage) bool {
	begun := o.From - 1
	for _, f := range d.Status.Faults {
		if f.Name == of.Name || f.InjectedTime == nil {
			continue
		}
		if at := d.Moment(*f.InjectedTime, f.Clock); at > begun && at < o.To {
			return false
		}
	}
	return begun+2 > d.Moment(*of.InjectedTime, of.Clock)
}

// unseen are the faults that are not known to have been carried out. They may have been.
func unseen(d *figures.Document) (names []string) {
	for _, f := range d.Status.Faults {
		if f.InjectedTime == nil {
			names = append(names, f.Name)
		}
	}
	return names
}

// Fault is what happened around one fault.
type Fault struct {
	Name string
	// At is when it was injected, in seconds of the load; "" of one that is not known to have been.
	At string
	// Did says what was done to which node.
	Did string
	// Events follow it, each so long after the last write that was acknowledged before them.
	Events []Event
	// Facts are sentences about its consequences.
	Facts []string
}

// Event of a fault.
type Event struct{ After, What string }

// Faults tells the faults in the order of the status.
func Faults(d *figures.Document) (all []Fault) {
	for _, f := range d.Status.Faults {
		one := Fault{Name: f.Name, Did: did(d, f)}
		if f.InjectedTime == nil {
			one.Facts = []string{sentence("Its state is "+string(f.State), f.Evidence)}
			all = append(all, one)
			continue
		}
		one.At = When(d, f)
		one.Events = events(d, f)
		one.Facts = facts(d, f)
		all = append(all, one)
	}
	return all
}

// When a fault was injected, in seconds of the load: about, where its clock was not measured, or not as finely as is shown.
func When(d *figures.Document, of v1alpha1.FaultStatus) string {
	if d.Began().IsZero() {
		return of.InjectedTime.UTC().Format(time.RFC3339)
	}
	at := func(ahead int64) string {
		return Seconds(d.Moment(*of.InjectedTime, &v1alpha1.ClockStatus{LeastAheadMicroseconds: ahead, MostAheadMicroseconds: ahead}))
	}
	text := Seconds(d.Moment(*of.InjectedTime, of.Clock))
	if of.Clock == nil || at(of.Clock.LeastAheadMicroseconds) != at(of.Clock.MostAheadMicroseconds) {
		text = "about " + text
	}
	return text
}

// acts are what faults do to a pod.
var acts = map[v1alpha1.FaultAction]string{
	v1alpha1.ActionKill: "killed %s", v1alpha1.ActionKillServer: "killed the server of %s", v1alpha1.ActionDeletePod: "deleted pod %s", v1alpha1.ActionPause: "paused %s",
	v1alpha1.ActionPartition: "cut off %s", v1alpha1.ActionSwitchover: "asked for a switchover from %s",
}

// roles are what a node was when a fault hit it, and sides what a partition cut it off from.
var (
	roles = map[v1alpha1.NodeRole]string{
		v1alpha1.NodePrimary: "the primary", v1alpha1.NodeReplica: "a replica", v1alpha1.NodeIsolated: "isolated", v1alpha1.NodeDown: "down",
	}
	sides = map[v1alpha1.PartitionFrom]string{
		v1alpha1.PartitionPeers: "the other nodes", v1alpha1.PartitionClients: "proxy and app", v1alpha1.PartitionEveryone: "everyone",
		v1alpha1.PartitionZone: "all nodes outside its zone", v1alpha1.PartitionStore: "the API server",
	}
)

func did(d *figures.Document, of v1alpha1.FaultStatus) string {
	act, from := "hit %s", ""
	for _, f := range d.Spec.Faults {
		if f.Name == of.Fault && acts[f.Action] != "" {
			act, from = acts[f.Action], sides[f.PartitionFrom]
		}
	}
	text, was := fmt.Sprintf(act, of.Pod), roles[of.Role]
	if was != "" {
		text += ", " + was
	}
	if from == "" {
		return text
	}
	if was != "" {
		text += ","
	}
	return text + " from " + from
}

// events of the failover after a fault, or the first write after its outage.
func events(d *figures.Document, of v1alpha1.FaultStatus) (all []Event) {
	if f := d.Status.Failover; f != nil && f.Fault == of.Name && f.OutageMilliseconds != nil {
		about, became := "", map[figure.Phase]string{figure.Detection: "detected", figure.Promotion: f.NewPrimary + " promoted"}
		for _, p := range d.Phases() {
			if !p.Took.Known() {
				about = "about "
			}
			if became[p.Phase] != "" { // the first write ends the last one
				all = append(all, Event{about + milliseconds(p.To), became[p.Phase]})
			}
		}
		return append(all, Event{firstWrite(d, "status.failover.outageMilliseconds"), "first write again on " + f.NewPrimary})
	}
	if o := d.OutageOf(of); o != nil && o.Gap != nil && !o.Longer {
		what := "first write again"
		if o.Gap.NextNode != "" {
			what += " on " + o.Gap.NextNode
		}
		return []Event{{firstWrite(d, "status.faults["+of.Name+"].outageMilliseconds"), what}}
	}
	return nil
}

// firstWrite is when an outage that was measured was over, with its bounds where it has some.
func firstWrite(d *figures.Document, path string) string {
	f := d.Figure(path)
	if f.Known() {
		return milliseconds(*f.Value)
	}
	return words(f)
}

func facts(d *figures.Document, of v1alpha1.FaultStatus) (all []string) {
	path := func(field string) string { return "status.faults[" + of.Name + "]." + field }
	if f := d.Figure(path("outageMilliseconds")); f.Value != nil {
		text := "The longest time without an acknowledged write was " + words(f)
		if o := d.OutageOf(of); o != nil && o.Longer && f.AtMost != nil {
			text += ", until the next fault"
		}
		all = append(all, text+".")
	} else {
		all = append(all, "Its outage is unknown: "+f.Because+".")
	}
	if f := d.Figure(path("lossWindowMilliseconds")); f.Value != nil {
		all = append(all, "The first lost write was acknowledged "+words(f)+" before it.")
	}
	if f := d.Figure(path("rejoinMilliseconds")); f.Value != nil {
		text := "The node was back in its place " + words(f) + " after it could return"
		if of.Resync != nil {
			text += ", by " + string(of.Resync.Method)
		}
		all = append(all, text+".")
	}
	switch {
	case of.State == v1alpha1.FaultEndedEarly:
		all = append(all, sentence("It ended early", of.Evidence))
	case of.State == v1alpha1.FaultEndedLate:
		all = append(all, sentence("It ended late", of.Evidence))
	case of.Confirmed != metav1.ConditionTrue:
		all = append(all, sentence("Its effect was not confirmed", of.Evidence))
	}
	if of.Leak != "" {
		all = append(all, sentence("A new pod was not cut off in time", of.Leak))
	}
	return all
}

// sentence of a statement and what it is known by, where that is said.
func sentence(statement, evidence string) string {
	if evidence = strings.TrimSuffix(evidence, "."); evidence != "" {
		statement += ": " + evidence
	}
	return statement + "."
}

func milliseconds(ms int64) string { return Seconds(float64(ms) / 1000) }

// Seconds with two digits behind the point, or one of 10 s and more, so that events can be compared.
func Seconds(s float64) string {
	if text := fmt.Sprintf("%.2f", s); s < 10 && text != "10.00" {
		return text + " s"
	}
	tenths := int64(math.Round(s * 10))
	if tenths >= 1200 {
		return fmt.Sprintf("%d min %.1f s", tenths/600, float64(tenths%600)/10)
	}
	return fmt.Sprintf("%.1f s", s)
}
