package prometheus

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

const chart = "../../charts/replab/"

// query is an expression, and where it stands.
type query struct {
	where, expr string
	row         string // of a panel: the row that it is in
	instant     bool   // asked for one moment, and not for a span of time
}

// dashboard is what is read of a dashboard's JSON.
type dashboard struct {
	UID           string  `json:"uid"`
	Title         string  `json:"title"`
	SchemaVersion int     `json:"schemaVersion"`
	Panels        []panel `json:"panels"`
	Annotations   struct {
		List []struct {
			Name            string `json:"name"`
			UseValueForTime bool   `json:"useValueForTime"`
			Datasource      source `json:"datasource"`
			Target          struct {
				Expr string `json:"expr"`
			} `json:"target"`
		} `json:"list"`
	} `json:"annotations"`
	Templating struct {
		List []struct {
			Name       string `json:"name"`
			Type       string `json:"type"`
			Definition string `json:"definition"`
		} `json:"list"`
	} `json:"templating"`
}

type panel struct {
	ID         int                      `json:"id"`
	Type       string                   `json:"type"`
	Title      string                   `json:"title"`
	Datasource source                   `json:"datasource"`
	GridPos    struct{ H, W, X, Y int } `json:"gridPos"`
	Targets    []struct {
		RefID      string `json:"refId"`
		Expr       string `json:"expr"`
		Instant    bool   `json:"instant"`
		Datasource source `json:"datasource"`
	} `json:"targets"`
	FieldConfig struct {
		Defaults struct {
			Unit   string `json:"unit"`
			Custom struct {
				ScaleDistribution struct {
					Type string `json:"type"`
				} `json:"scaleDistribution"`
			} `json:"custom"`
		} `json:"defaults"`
		Overrides []struct {
			Matcher    struct{ Options string }
			Properties []struct{ Value string }
		} `json:"overrides"`
	} `json:"fieldConfig"`
	Options struct {
		Content string `json:"content"`
	} `json:"options"`
}

type source struct {
	Type string `json:"type"`
	UID  string `json:"uid"`
}

func dashboards(t *testing.T) map[string]dashboard {
	t.Helper()
	files, err := filepath.Glob(chart + "dashboards/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("dashboards: %v, %v", files, err)
	}
	all := map[string]dashboard{}
	for _, file := range files {
		var d dashboard
		if err := json.Unmarshal(read(t, file), &d); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all[filepath.Base(file)] = d
	}
	return all
}

// ofVariable is the only form that variables have here.
var ofVariable = regexp.MustCompile(`^label_values\((.+), (\w+)\)$`)

// queries of a dashboard, as Grafana would send them for an experiment.
func (d dashboard) queries(t *testing.T, file, namespace, experiment string) (all []query) {
	t.Helper()
	sent := strings.NewReplacer("$__rate_interval", "1m", "$namespace", namespace, "$experiment", experiment)
	add := func(where, expr, row string, instant bool) {
		all = append(all, query{file + ": " + where, sent.Replace(expr), row, instant})
	}
	row := ""
	for _, p := range d.Panels {
		if p.Type == "row" {
			row = p.Title
		}
		for _, q := range p.Targets {
			add(p.Title+" "+q.RefID, q.Expr, row, q.Instant)
		}
	}
	for _, a := range d.Annotations.List {
		add("annotation "+a.Name, a.Target.Expr, "", false)
	}
	for _, v := range d.Templating.List {
		if v.Type != "query" {
			continue
		}
		parts := ofVariable.FindStringSubmatch(v.Definition)
		if parts == nil {
			t.Errorf("%s: variable %s is made by %q, want label_values(series, label)", file, v.Name, v.Definition)
			continue
		}
		add("variable "+v.Name, "group by ("+parts[2]+") ("+parts[1]+")", "", false)
	}
	return all
}

// rule is an alert.
type rule struct {
	Alert       string            `yaml:"alert"`
	Expr        string            `yaml:"expr"`
	Labels      map[string]string `yaml:"labels"`
	Annotations map[string]string `yaml:"annotations"`
}

func rules(t *testing.T) (all []rule) {
	t.Helper()
	var file struct {
		Groups []struct {
			Rules []rule `yaml:"rules"`
		} `yaml:"groups"`
	}
	if err := yaml.Unmarshal(read(t, chart+"files/rules.yaml"), &file); err != nil {
		t.Fatal(err)
	}
	for _, g := range file.Groups {
		all = append(all, g.Rules...)
	}
	if len(all) == 0 {
		t.Fatal("there are no rules")
	}
	return all
}

// family is a metric as docs/reference/metrics.md has it, where each process's own tests hold it against what the process tells.
type family struct {
	kind   string
	labels []string
}

var row = regexp.MustCompile("(?m)^\\| `(replab_\\w+)` \\| ([a-z ]+) \\| ([a-z, ]*) \\|")

func documented(t *testing.T) map[string]family {
	t.Helper()
	all := map[string]family{}
	for _, r := range row.FindAllStringSubmatch(string(read(t, "../../docs/reference/metrics.md")), -1) {
		all[r[1]] = family{r[2], strings.Split(r[3], ", ")}
	}
	if len(all) < 50 {
		t.Fatalf("docs/reference/metrics.md has %d metrics, of more than 50", len(all))
	}
	return all
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
