package prometheus

import (
	"go/ast"
	goparser "go/parser"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/promql/parser"
)

// foreign are metrics that are not replab's own: of each process, of controller-runtime, of HAProxy, of Prometheus.
var foreign = map[string]family{
	"process_cpu_seconds_total":                 {"counter", nil},
	"process_resident_memory_bytes":             {"gauge", nil},
	"controller_runtime_reconcile_total":        {"counter", []string{"controller", "result"}},
	"controller_runtime_reconcile_errors_total": {"counter", []string{"controller"}},
	"workqueue_depth":                           {"gauge", []string{"name", "controller", "priority"}},
	"haproxy_server_status":                     {"gauge", []string{"proxy", "server", "state"}},
	"up":                                        {"gauge", nil},
}

// ofTarget are the labels that Prometheus and the PodMonitor give.
var ofTarget = []string{"namespace", "pod", "experiment", "component"}

func TestQueriesAskForWhatProcessesTell(t *testing.T) {
	known := documented(t)
	for name, f := range foreign {
		known[name] = f
	}
	asked := map[string]bool{}
	for _, q := range everyQuery(t) {
		for _, name := range check(t, q, known) {
			asked[name] = true
		}
	}
	for name := range foreign {
		if !asked[name] {
			t.Errorf("%s is listed as asked for, and nobody does", name)
		}
	}
	if len(asked) < 40 {
		t.Errorf("%d metrics are asked for: were the expressions read?", len(asked))
	}
}

// everyQuery of the dashboards and the alerts.
func everyQuery(t *testing.T) (all []query) {
	t.Helper()
	for file, d := range dashboards(t) {
		all = append(all, d.queries(t, file, "n", "e")...)
	}
	for _, r := range rules(t) {
		all = append(all, query{where: "alert " + r.Alert, expr: r.Expr})
	}
	return all
}

// check returns the metrics that an expression asks for.
func check(t *testing.T, q query, known map[string]family) []string {
	t.Helper()
	expr, err := parser.NewParser(parser.Options{}).ParseExpr(q.expr)
	if err != nil {
		t.Errorf("%s: %s: %v", q.where, q.expr, err)
		return nil
	}
	for _, problem := range problems(expr, known) {
		t.Errorf("%s: %s: %s", q.where, q.expr, problem)
	}
	return selected(expr)
}

// selected are the metrics that an expression asks for.
func selected(expr parser.Expr) (names []string) {
	parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
		if s, ok := n.(*parser.VectorSelector); ok && !slices.Contains(names, s.Name) {
			names = append(names, s.Name)
		}
		return nil
	})
	return names
}

// problems of an expression that parses.
func problems(expr parser.Expr, known map[string]family) (all []string) {
	parser.Inspect(expr, func(n parser.Node, path []parser.Node) error {
		switch n := n.(type) {
		case *parser.VectorSelector:
			all = append(all, ofSelector(n, path, known)...)
		case *parser.AggregateExpr:
			all = append(all, ofGrouping(n, known)...)
		}
		return nil
	})
	return all
}

func ofSelector(s *parser.VectorSelector, path []parser.Node, known map[string]family) (all []string) {
	f, there := known[s.Name]
	if !there {
		return []string{"no process tells " + s.Name}
	}
	for _, m := range s.LabelMatchers {
		if m.Name != "__name__" && !slices.Contains(slices.Concat(ofTarget, f.labels), m.Name) {
			all = append(all, s.Name+" has no label "+m.Name)
		}
	}
	rated := slices.ContainsFunc(path, func(n parser.Node) bool {
		c, ok := n.(*parser.Call)
		return ok && (c.Func.Name == "rate" || c.Func.Name == "increase")
	})
	if rated == (f.kind == "gauge") && !position(s.Name) {
		all = append(all, s.Name+" is a "+f.kind+", which is to be rated if it is none, and not if it is")
	}
	return all
}

// position tells counters that are positions as well, such as in a log: what matters is how far they are from another one's.
func position(name string) bool {
	return name == "replab_agent_group_transactions_total" || name == "replab_agent_manager_log_bytes_total"
}

// ofGrouping: who groups by a label that none of the series has gets a single series, and no error.
func ofGrouping(a *parser.AggregateExpr, known map[string]family) (all []string) {
	var labels []string
	parser.Inspect(a.Expr, func(n parser.Node, _ []parser.Node) error {
		if s, ok := n.(*parser.VectorSelector); ok {
			labels = append(labels, known[s.Name].labels...)
		}
		return nil
	})
	for _, by := range a.Grouping {
		if !slices.Contains(slices.Concat(ofTarget, labels), by) {
			all = append(all, "nothing in "+a.Expr.String()+" has a label "+by)
		}
	}
	return all
}

func TestWrongQueriesAreFound(t *testing.T) {
	known := documented(t)
	for expr, want := range map[string]string{
		`replab_recorder_no_such`:                                  "no process tells",
		`replab_recorder_lag_seconds{stage="a"}`:                   "has no label stage",
		`rate(replab_recorder_lag_seconds[1m])`:                    "is a gauge",
		`replab_recorder_requests_total`:                           "is a counter",
		`sum by (node) (rate(replab_recorder_requests_total[1m]))`: "has a label node",
	} {
		parsed, err := parser.NewParser(parser.Options{}).ParseExpr(expr)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(problems(parsed, known), "; "); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", expr, got, want)
		}
	}
}

var phases = regexp.MustCompile(`phase=~?"([^"]+)"`)

// TestPhasesThatAreAskedForAreThoseThatTheOperatorSets: with a word that it never says, an alert would never fire.
func TestPhasesThatAreAskedForAreThoseThatTheOperatorSets(t *testing.T) {
	set := operatorsPhases(t)
	asked := 0
	for _, q := range everyQuery(t) {
		for _, found := range phases.FindAllStringSubmatch(q.expr, -1) {
			for phase := range strings.SplitSeq(found[1], "|") {
				asked++
				if !slices.Contains(set, phase) {
					t.Errorf("%s asks for phase %s, of %v", q.where, phase, set)
				}
			}
		}
	}
	if asked == 0 {
		t.Error("no phase is asked for: were the expressions read?")
	}
}

// operatorsPhases are the words that its function phase has.
func operatorsPhases(t *testing.T) (all []string) {
	t.Helper()
	file, err := goparser.ParseFile(token.NewFileSet(), "../../controllers/experiment/status.go", nil, goparser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == "phase" {
			ast.Inspect(f, func(n ast.Node) bool {
				if word, ok := n.(*ast.BasicLit); ok && word.Kind == token.STRING {
					all = append(all, strings.Trim(word.Value, `"`))
				}
				return true
			})
		}
	}
	return all
}
