package html

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/figure"
	"replab.dev/internal/report/figures"
)

// Settings are what everything ran with.
type Settings struct {
	Servers, Versions, Images, Machines, Clocks, Proxy, Manager, Steps Table
}

func newSettings(d *figures.Document) Settings {
	s := Settings{
		Servers: servers(d), Versions: versions(d), Proxy: named("Proxy", d.Proxy), Manager: named("The nodes' manager", d.Manager), Steps: steps(d),
		Images:   Table{Title: "Containers", Head: []string{"pod", "container", "image", "what the machine took for it", "machine"}},
		Machines: Table{Title: "Machines", Head: []string{"machine", "processors", "memory", "architecture", "kernel", "system", "container runtime"}},
		Clocks:   Table{Title: "Clocks, by how much each was ahead of the recorder's", Head: []string{"of", "at least, µs", "at most, µs", "set back or forth by, µs"}},
	}
	for _, c := range d.Provenance.Containers {
		s.Images.Rows = append(s.Images.Rows, []Cell{words(c.Pod), words(c.Name), words(c.Image), words(cmp.Or(c.ImageID, "not known")), words(c.Machine)})
	}
	for _, m := range d.Provenance.Machines {
		s.Machines.Rows = append(s.Machines.Rows, []Cell{
			words(m.Name), words(fmt.Sprint(m.CPUs)), words(fmt.Sprintf("%.1f GiB", float64(m.MemoryBytes)/(1<<30))), words(m.Architecture), words(m.Kernel), words(m.OperatingSystem), words(m.ContainerRuntime),
		})
	}
	if why := d.Provenance.MachinesUnknown; why != "" {
		s.Machines.Notes = []string{why}
	}
	if d.Recorder != nil {
		for _, c := range d.Recorder.Clocks {
			s.Clocks.Rows = append(s.Clocks.Rows, []Cell{words(c.Name), words(figure.Grouped(c.LeastAheadMicroseconds)), words(figure.Grouped(c.MostAheadMicroseconds)), words(figure.Grouped(c.SteppedMicroseconds))})
		}
	}
	return s
}

// servers are the settings that each node's server told, a line for each setting.
func servers(d *figures.Document) Table {
	t := Table{Title: "Servers, as they told themselves", Head: []string{"setting", "requested"}}
	if d.Recorder == nil {
		return Table{}
	}
	var order []string
	lines := map[string][]Cell{}
	for i, n := range d.Recorder.Settings {
		t.Head = append(t.Head, n.Node)
		for _, why := range []string{n.Unread, n.UnreadAfter} {
			if why != "" {
				t.Notes = append(t.Notes, n.Node+": "+why)
			}
		}
		for _, s := range n.Settings {
			line, known := lines[s.Name]
			if !known {
				order = append(order, s.Name)
				expected := s.Value
				if s.AnyValue {
					expected = "any"
				}
				line = []Cell{words(s.Name), words(expected)}
			}
			for len(line) < 2+i {
				line = append(line, words("not read"))
			}
			text := "has none"
			if s.Actual != nil {
				text = *s.Actual
			}
			if s.Differs {
				text += " (differs)"
			}
			if s.Changed != nil {
				text += ", after the load " + *s.Changed
			}
			lines[s.Name] = append(line, words(text))
		}
	}
	for _, name := range order {
		line := lines[name]
		for len(line) < len(t.Head) {
			line = append(line, words("not read"))
		}
		t.Rows = append(t.Rows, line)
	}
	return t
}

func versions(d *figures.Document) Table {
	t := Table{Title: "Versions", Head: []string{"of", "version"}}
	add := func(name, value string) {
		if value != "" {
			t.Rows = append(t.Rows, []Cell{words(name), words(value)})
		}
	}
	if v := d.Status.Versions; v != nil {
		add("operator that judged", v.Operator)
		add("server", v.Server)
		add("k6", v.K6)
	}
	if i := d.Status.Images; i != nil {
		add("image of the server", i.Server)
		add("image of agents, instruments and app", i.Replab)
		add("image of the proxy", i.Proxy)
		add("image of k6", i.K6)
	}
	add("plan", d.Status.PlanHash)
	add("script", d.Status.ScriptHash)
	return t
}

func named(title string, settings map[string]string) Table {
	t := Table{Title: title, Head: []string{"setting", "value"}}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		t.Rows = append(t.Rows, []Cell{words(name), words(settings[name])})
	}
	return t
}

func steps(d *figures.Document) Table {
	t := Table{Title: "Steps of the run", Head: []string{"step", "reached", "reason", "message"}}
	for _, c := range d.Status.Conditions {
		when := string(c.Status)
		if c.Status == metav1.ConditionTrue {
			when = c.LastTransitionTime.UTC().Format("2006-01-02 15:04:05")
		}
		t.Rows = append(t.Rows, []Cell{words(c.Type), words(when), words(c.Reason), words(c.Message)})
	}
	return t
}
