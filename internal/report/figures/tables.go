package figures

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
	"replab.dev/internal/report/wording"
)

// Tables of the run, in the order in which people read them. Those without rows are left out.
func (d *Document) Tables() []Table {
	all := append([]Table{d.goals()}, d.ofRun()...)
	all = append(all, d.stages(), d.operations(), d.nodeLags(), d.lagSizes(), d.traffic(), d.faults(), d.gaps(), d.nodes(), d.resources(), d.roundTrips(), d.ofBound())
	return slices.DeleteFunc(all, func(t Table) bool { return len(t.Rows) == 0 })
}

func (d *Document) goals() Table {
	t := Table{Title: "Goals", Section: "Goals", Head: []string{"goal", "limit", "measured", "outcome"}}
	for _, g := range d.Status.Goals {
		t.Rows = append(t.Rows, []Cell{Words(string(g.Metric)), Words(Limit(g)), d.Measured(g), Words(wording.Met(g))})
	}
	return t
}

// Measured is what a goal was judged by.
func (d *Document) Measured(g v1alpha1.GoalStatus) Cell {
	f := d.Goal(g.Metric)
	if part := d.Figure("status.goals[" + string(g.Metric) + "].baselinePermille").Percents(); part != "" {
		return Words(fmt.Sprintf("%s, %s of the baseline", f.Text(), part))
	}
	return Cell{Figure: &f}
}

// FigureHead is the head of tables that have a line for each figure of the run.
var FigureHead = []string{"figure", "field", "value", "why it is not exact"}

// ofRun are the figures of the run as a whole, a table for each place. An absent figure is listed where people look for it: if it is a main one, or
// others of its place were measured.
func (d *Document) ofRun() (tables []Table) {
	for _, e := range figure.All() {
		p, f := placeOf(e.Path), d.Figure("status."+e.Path)
		if strings.Contains(e.Path, "[]") || f.Value == nil && !e.Main && (e.Absent == "" || !d.measured(p)) {
			continue
		}
		i := slices.IndexFunc(tables, func(t Table) bool { return t.Title == p.title })
		if i < 0 {
			i, tables = len(tables), append(tables, Table{Title: p.title, Section: p.section, Head: FigureHead})
		}
		title := strings.TrimPrefix(e.Title, strings.ToLower(p.title)+" ")
		tables[i].Rows = append(tables[i].Rows, []Cell{Words(title), Words(f.Path), {Figure: &f}, Words(f.Because)})
	}
	for i := range tables {
		d.describe(&tables[i])
	}
	return tables
}

func (d *Document) measured(p place) bool {
	return slices.ContainsFunc(figure.All(), func(e figure.Entry) bool { return placeOf(e.Path) == p && figure.At(&d.Status, e.Path) != nil })
}

// describe what a failover and a comparison are of.
func (d *Document) describe(t *Table) {
	switch f, c := d.Status.Failover, d.Status.Comparison; {
	case t.Title == "Failover" && f != nil:
		if f.OldPrimary != "" || f.NewPrimary != "" {
			t.Notes = []string{strings.TrimRight(fmt.Sprintf("from %s to %s", f.OldPrimary, f.NewPrimary), " ")}
		}
		if f.Planned {
			t.Notes = append(t.Notes, "planned switchover")
		}
	case t.Title == "Comparison" && c != nil:
		t.Notes = []string{"against " + c.Baseline}
		if c.Note != "" {
			t.Notes = append(t.Notes, c.Note)
		}
	}
}

func (d *Document) stages() Table {
	var rows []row
	if d.Status.Load != nil {
		for _, s := range d.Status.Load.Stages {
			rows = append(rows, row{"status.load.stages[" + s.Name + "]", []string{s.Name, wording.Stage(d.Spec, s.Name)}})
		}
	}
	return d.tableOf("load.stages[].", []string{"stage", "planned"}, rows)
}

// operations have the figures of stages that the recorder counts for each of them.
func (d *Document) operations() Table {
	t := Table{Title: "Requests by operation", Section: "Load", Detail: true, Head: []string{"stage and operation"}}
	var rows []row
	if d.Recorder != nil {
		for _, s := range d.Recorder.Stages {
			for _, o := range s.Operations {
				rows = append(rows, row{"recorder.stages[" + s.Name + "].operations[" + o.Name + "]", []string{s.Name + ": " + o.Name}})
			}
		}
	}
	t.fill(d, slices.DeleteFunc(columns("load.stages[]."), func(c column) bool { return !isField("recorder.stages[].operations[]." + c.field) }), rows)
	return t
}

func (d *Document) nodeLags() Table {
	var rows []row
	for _, n := range d.Status.Nodes {
		if n.Lag != nil {
			rows = append(rows, row{"status.nodes[" + n.Name + "].lag", []string{n.Name}})
		}
	}
	return d.tableOf("nodes[].lag.", []string{"lag of"}, rows,
		column{"server's own: transport p50", "recorder.lag.nodes[].engineTransportP50Microseconds"}, column{"server's own: apply p50", "recorder.lag.nodes[].engineApplyP50Microseconds"})
}

func (d *Document) faults() Table {
	var rows []row
	for _, f := range d.Status.Faults {
		injected, confirmed, method := "no", string(f.State), ""
		if f.InjectedTime != nil {
			at := f.InjectedTime.Time
			if f.Clock != nil {
				at = at.Add(-f.Clock.Ahead())
			}
			injected = d.After(at)
		}
		if f.Evidence != "" {
			confirmed += ": " + f.Evidence
		}
		if f.Leak != "" {
			confirmed += "; " + f.Leak
		}
		if f.Resync != nil {
			method = string(f.Resync.Method)
		}
		rows = append(rows, row{"status.faults[" + f.Name + "]", []string{f.Name, wording.HeldFault(d.Spec, f.Fault), f.Pod, d.After(f.PlannedTime.Time), injected, confirmed, method}})
	}
	return d.tableOf("faults[].", []string{"fault", "action", "pod", "planned", "injected", "state", "resync by"}, rows)
}

const mostGaps = 20

func (d *Document) gaps() Table {
	t := Table{Title: "Times without an acknowledged write", Section: "Faults", Detail: true, Head: []string{"from", "last write on", "next write on", "outage of fault"}}
	if d.Recorder == nil || d.Recorder.Availability == nil {
		return t
	}
	var rows []row
	all := d.Recorder.Availability.Gaps
	for i, g := range all[:min(mostGaps, len(all))] {
		var faults []string
		for _, f := range d.Status.Faults {
			if o := d.OutageOf(f); o != nil && o.Gap == &all[i] {
				faults = append(faults, f.Name)
			}
		}
		rows = append(rows, row{fmt.Sprintf("recorder.availability.gaps[%d]", i), []string{d.After(g.LastAcknowledgedAt.Time), g.LastNode, g.NextNode, strings.Join(faults, ", ")}})
	}
	t.fill(d, []column{{"took", "durationMicroseconds"}, {"writes that failed in it", "errors"}, {"recorder paused", "pausedMicroseconds"}}, rows)
	t.Notes = nil // the last one may not have ended
	if more := len(all) - mostGaps; more > 0 {
		t.Notes = []string{fmt.Sprintf("%d more are in the results document.", more)}
	}
	return t
}

func (d *Document) nodes() Table {
	var rows []row
	var notes []string
	for _, n := range d.Status.Nodes {
		rows = append(rows, row{"status.nodes[" + n.Name + "]", []string{n.Name, string(n.Role)}})
		if n.Missing != nil && *n.Missing > 0 && d.Spec.Topology.Type != v1alpha1.TopologyDualPrimary { // there it is what the other node has
			note := "The writes missing on " + n.Name + " are not lost: the surviving primary has them"
			if n.Role == v1alpha1.NodeIsolated {
				note += ", and this node was kept apart from it"
			}
			notes = append(notes, note+".")
		}
	}
	t := d.tableOf("nodes[].", []string{"node", "role"}, rows)
	t.Notes = append(notes, t.Notes...)
	return t
}

// resources of each stage, as monitors of containers show them.
func (d *Document) resources() Table {
	var rows []row
	if d.Status.Load != nil {
		for _, s := range d.Status.Load.Stages {
			for _, r := range s.Resources {
				rows = append(rows, row{"status.load.stages[" + s.Name + "].resources[" + r.Name + "]", []string{s.Name, r.Name}})
			}
		}
	}
	return d.tableOf("load.stages[].resources[].", []string{"stage", "process"}, rows)
}

func (d *Document) roundTrips() Table {
	var rows []row
	if d.Status.Distance != nil {
		for _, r := range d.Status.Distance.RoundTrips {
			trip := r.From + " to " + r.To
			rows = append(rows, row{"status.distance.roundTrips[" + trip + "]", []string{trip}})
		}
	}
	return d.tableOf("distance.roundTrips[].", []string{"round trip"}, rows)
}

func (d *Document) traffic() Table {
	var rows []row
	if r := d.Status.Replication; r != nil {
		for _, t := range r.Traffic {
			rows = append(rows, row{"status.replication.traffic[" + t.Name + "]", []string{t.Name}})
		}
	}
	return d.tableOf("replication.traffic[].", []string{"direction"}, rows)
}

func (d *Document) lagSizes() Table {
	var rows []row
	if r := d.Status.Replication; r != nil {
		for _, s := range r.LagSizes {
			rows = append(rows, row{"status.replication.lagSizes[" + s.Name + "]", []string{s.Name}})
		}
	}
	return d.tableOf("replication.lagSizes[].", []string{"bytes"}, rows)
}

// bases say whose the latency without distance is.
var bases = map[v1alpha1.DistanceBase]string{
	v1alpha1.BaseFromStage: "a stage without distance", v1alpha1.BaseFromBaseline: "the baseline", v1alpha1.BaseFromReads: "the reads, which take less than writes",
}

// ofBound is the throughput of stages against what the distance allows.
func (d *Document) ofBound() Table {
	var rows []row
	if d.Status.Load != nil {
		for _, s := range d.Status.Load.Stages {
			if s.Distance != nil {
				rows = append(rows, row{"status.load.stages[" + s.Name + "].distance", []string{s.Name, cmp.Or(bases[s.Distance.BaseFrom], string(s.Distance.BaseFrom))}})
			}
		}
	}
	return d.tableOf("load.stages[].distance.", []string{"stage", "source of the latency without distance"}, rows)
}

// After is a time as seconds since the load began, as the clock has it that it is by.
func (d *Document) After(t time.Time) string {
	if d.Began().IsZero() {
		return t.UTC().Format(time.RFC3339)
	}
	return fmt.Sprintf("%+.3f s", t.Sub(d.Began()).Seconds())
}
