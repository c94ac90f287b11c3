package prometheus

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// kinds of panels, which all are Grafana's own, and units of theirs that are used.
var (
	kinds = []string{"row", "stat", "table", "timeseries", "heatmap", "state-timeline", "text"}
	units = []string{"short", "none", "s", "ops", "wps", "reqps", "pps", "Bps", "bytes", "percentunit"}
)

// TestDashboardsAreOfGrafanasShape, as far as that is known without one: identities, places that do not overlap, the datasource that is chosen.
func TestDashboardsAreOfGrafanasShape(t *testing.T) {
	uids := map[string]string{}
	for file, d := range dashboards(t) {
		if d.UID == "" || d.Title == "" || d.SchemaVersion < 39 {
			t.Errorf("%s: uid %q, title %q, schemaVersion %d", file, d.UID, d.Title, d.SchemaVersion)
		}
		if other, taken := uids[d.UID]; taken {
			t.Errorf("%s and %s have the uid %s", file, other, d.UID)
		}
		uids[d.UID] = file
		ids := map[int]bool{}
		for i, p := range d.Panels {
			if ids[p.ID] || p.ID == 0 {
				t.Errorf("%s: %s has the id %d, as another one", file, p.Title, p.ID)
			}
			ids[p.ID] = true
			checkPanel(t, file, p)
			for _, q := range d.Panels[:i] {
				if overlap(p, q) {
					t.Errorf("%s: %s lies on %s", file, p.Title, q.Title)
				}
			}
		}
		for _, a := range d.Annotations.List {
			if !a.UseValueForTime || a.Datasource.UID != "${datasource}" {
				t.Errorf("%s: annotation %s: a value that is a time is not taken for one, or it is asked of %q", file, a.Name, a.Datasource.UID)
			}
		}
	}
}

func checkPanel(t *testing.T, file string, p panel) {
	t.Helper()
	if !slices.Contains(kinds, p.Type) || p.GridPos.X+p.GridPos.W > 24 || p.GridPos.W <= 0 || p.GridPos.H <= 0 {
		t.Errorf("%s: %s is a %q at %+v", file, p.Title, p.Type, p.GridPos)
	}
	switch {
	case p.Type == "row", p.Type == "text" && p.Options.Content != "" && len(p.Targets) == 0:
		return
	}
	if p.Title == "" || len(p.Targets) == 0 || !slices.Contains(units, p.FieldConfig.Defaults.Unit) {
		t.Errorf("%s: panel %d, %q, has %d queries and the unit %q", file, p.ID, p.Title, len(p.Targets), p.FieldConfig.Defaults.Unit)
	}
	for _, q := range p.Targets {
		if q.Datasource != (source{"prometheus", "${datasource}"}) || q.RefID == "" {
			t.Errorf("%s: %s asks %+v for %q", file, p.Title, q.Datasource, q.RefID)
		}
	}
}

// TestTheRunNamesTheCommandOfItsReport with the run that is chosen.
func TestTheRunNamesTheCommandOfItsReport(t *testing.T) {
	const command = "\n    kubectl replab report ${experiment} -n ${namespace} --file ${experiment}.html\n"
	for _, p := range dashboards(t)["run.json"].Panels {
		if strings.Contains(p.Options.Content, command) {
			return
		}
	}
	t.Errorf("no panel of run.json has %q", command)
}

// TestTimesOfManyScalesAreLogarithmic: beside a node that is down, lags of milliseconds would be a line at 0. A lag of 0 has a place on the scale.
func TestTimesOfManyScalesAreLogarithmic(t *testing.T) {
	found := 0
	for _, p := range dashboards(t)["run.json"].Panels {
		if d := p.FieldConfig.Defaults; p.Type == "timeseries" && d.Unit == "s" && !strings.HasPrefix(p.Title, "Time since") {
			if found++; d.Custom.ScaleDistribution.Type != "log" {
				t.Errorf("%s is drawn on the scale %q", p.Title, d.Custom.ScaleDistribution.Type)
			}
			for _, q := range p.Targets {
				if strings.Contains(q.Expr, "lag_seconds") && !strings.HasPrefix(q.Expr, "clamp_min(") {
					t.Errorf("%s leaves out a lag of 0: %s", p.Title, q.Expr)
				}
			}
		}
	}
	if found != 3 {
		t.Errorf("%d panels have latencies or lags", found)
	}
}

// TestRowsAreInTheOrderOfARun, and their panels in the order of the file.
func TestRowsAreInTheOrderOfARun(t *testing.T) {
	for file, want := range map[string][]string{
		"run.json":         {"Verdict", "Load", "Outage", "Replication lag and writes", "Resources"},
		"experiments.json": {"Experiments", "Running load", "Operator"},
	} {
		var rows []string
		below := 0
		for _, p := range dashboards(t)[file].Panels {
			if p.Type == "row" {
				rows = append(rows, p.Title)
			}
			if p.GridPos.Y < below {
				t.Errorf("%s: %s stands above the panel before it", file, p.Title)
			}
			below = p.GridPos.Y
		}
		if !slices.Equal(rows, want) {
			t.Errorf("%s has the rows %q, want %q", file, rows, want)
		}
	}
}

func overlap(p, q panel) bool {
	a, b := p.GridPos, q.GridPos
	return a.X < b.X+b.W && b.X < a.X+a.W && a.Y < b.Y+b.H && b.Y < a.Y+a.H
}

var ofAlert = regexp.MustCompile(`\$labels\.(\w+)`)

// TestAlertsSayWhatAndWhere: an annotation with a label that the alert has not would have a gap there.
func TestAlertsSayWhatAndWhere(t *testing.T) {
	for _, r := range rules(t) {
		if r.Annotations["summary"] == "" || r.Annotations["description"] == "" || r.Labels["severity"] == "" {
			t.Errorf("alert %s: labels %v, annotations %v", r.Alert, r.Labels, r.Annotations)
		}
		for name, text := range r.Annotations {
			for _, label := range ofAlert.FindAllStringSubmatch(text, -1) {
				if !regexp.MustCompile(`by \([^)]*\b` + label[1] + `\b`).MatchString(r.Expr) {
					t.Errorf("alert %s: its %s names $labels.%s, by which %s does not group", r.Alert, name, label[1], r.Expr)
				}
			}
		}
	}
}
