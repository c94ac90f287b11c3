//go:build e2e

package prometheus

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"
)

// silent are queries that a run may have no answer to, and what its status then says. There is none that a run never has one to.
var silent = map[string]func(*run) string{
	"run.json: annotation Faults":              noFault,
	"run.json: annotation Ends of faults":      noFault,
	"topology.json: annotation Faults":         noFault,
	"topology.json: annotation Ends of faults": noFault,
	"experiments.json: Figures D":              inexact("load.latency.p99Microseconds"),
	"experiments.json: Figures E":              inexact("replication.lag.p99Microseconds"),
	"experiments.json: Figures F":              inexact("writes.lost"),
	"experiments.json: Figures H":              inexact("outageMilliseconds"),
	"experiments.json: Figures I": func(r *run) string {
		if r.status.bound("writes.lost") != "" {
			return ""
		}
		return "its lost writes are exact"
	},
	"run.json: Longest outage A": inexact("outageMilliseconds"),
	"experiments.json: p99 latency by experiment A": func(r *run) string {
		if r.status.Load.Failures == 0 {
			return ""
		}
		return "it is shown where no request failed for a minute"
	},
}

// inexact excuses a figure that has no metric, since its value is not exact.
func inexact(figure string) func(*run) string {
	return func(r *run) string { return r.status.bound(figure) }
}

func noFault(r *run) string {
	if len(r.status.Faults) > 0 {
		return ""
	}
	return "it has no fault"
}

// TestPrometheusAnswers carries experiments out on the cluster of KUBECONFIG, and asks the Prometheus there all that dashboards and alerts do. The
// cluster has the Prometheus operator, and replab's chart with its monitors and rules: `make e2e-metrics` sees to both.
func TestPrometheusAnswers(t *testing.T) {
	c := connect(t)
	await(t, 5*time.Minute, func() string { return c.unread(t) })
	namespace := fmt.Sprintf("e2e-metrics-%05d", rand.IntN(100_000))
	c.do(t, "", "create", "namespace", namespace)
	t.Cleanup(func() { // the test's context is over by then
		if out, err := exec.Command(c.kubectl, "delete", "namespace", namespace, "--wait=false").CombinedOutput(); err != nil {
			t.Errorf("delete namespace %s: %v: %s", namespace, err, out)
		}
	})
	asked, began := map[string]bool{}, time.Now()
	for _, r := range runs() {
		c.carryOut(t, namespace, r)
		await(t, time.Minute, func() string { return c.notRead(t, namespace, r) })
		c.holdRun(t, namespace, r, asked)
		await(t, time.Minute, func() string { return c.wronglyFired(t, namespace, r) })
		c.remove(t, namespace, r)
	}
	c.holdAlerts(t, namespace, began, asked)
	for _, q := range everyQuery(t) {
		if !asked[q.where] {
			t.Errorf("nobody has asked %s", q.where)
		}
	}
	t.Logf("%d queries were asked, some of them of each run", len(asked))
}

// unread is what Prometheus has not yet taken of the chart: both monitors, and the rules.
func (c cluster) unread(t *testing.T) string {
	t.Helper()
	targets, err := c.prometheus.Targets(t.Context())
	if err != nil {
		return "Prometheus does not answer: " + err.Error()
	}
	if !slices.ContainsFunc(targets.Active, func(a v1.ActiveTarget) bool {
		return strings.HasPrefix(a.ScrapePool, "serviceMonitor/") && strings.HasSuffix(a.ScrapePool, "/replab-operator/0") && a.Health == v1.HealthGood
	}) {
		return "the operator's target is not up: see the ServiceMonitor replab-operator"
	}
	if config, err := c.prometheus.Config(t.Context()); err != nil || !strings.Contains(config.YAML, "/replab-operator-experiments/0") {
		return fmt.Sprintf("the PodMonitor replab-operator-experiments is not in the configuration: %v", err)
	}
	loaded, err := c.prometheus.Rules(t.Context(), nil)
	if err != nil {
		return "rules: " + err.Error()
	}
	want := map[string]string{}
	for _, r := range rules(t) {
		want[r.Alert] = inOrder(t, r.Expr)
	}
	for _, g := range loaded.Groups {
		for _, r := range g.Rules {
			if a, ok := r.(v1.AlertingRule); ok && a.Health == v1.RuleHealthGood && inOrder(t, a.Query) == want[a.Name] {
				delete(want, a.Name)
			}
		}
	}
	if len(want) > 0 {
		return fmt.Sprintf("these rules are not there as they are in the chart, or not in health: %v", slices.Sorted(maps.Keys(want)))
	}
	return ""
}

// inOrder is an expression as Prometheus writes it.
func inOrder(t *testing.T, text string) string {
	t.Helper()
	expr, err := parser.NewParser(parser.Options{}).ParseExpr(text)
	if err != nil {
		t.Fatal(err)
	}
	return expr.String()
}

// notRead is which pod of a run is no target that is up, or what the operator has not yet told.
func (c cluster) notRead(t *testing.T, namespace string, r *run) string {
	t.Helper()
	targets, err := c.prometheus.Targets(t.Context())
	if err != nil {
		return err.Error()
	}
	up := map[model.LabelValue]bool{}
	for _, a := range targets.Active {
		if string(a.Labels["namespace"]) == namespace && string(a.Labels["experiment"]) == r.name && a.Health == v1.HealthGood {
			up[a.Labels["pod"]] = true
		}
	}
	wanted := slices.Clone(r.components)
	for _, pod := range c.running(t, namespace, r.name) {
		if !up[model.LabelValue(pod.name)] {
			return fmt.Sprintf("%s: Prometheus does not read pod %s", r.name, pod.name)
		}
		wanted = slices.DeleteFunc(wanted, func(component string) bool { return component == pod.component })
	}
	if len(wanted) > 0 {
		return fmt.Sprintf("%s: no pod runs of %v", r.name, wanted)
	}
	over := query{expr: fmt.Sprintf("replab_experiment_completion_timestamp_seconds{namespace=%q,experiment=%q}", namespace, r.name), instant: true}
	if answer, err := c.ask(t.Context(), over, time.Time{}, time.Now()); err != nil || !telling(answer, namespace) {
		return fmt.Sprintf("%s: the operator has not told yet that it is over: %v", r.name, err)
	}
	return ""
}

type pod struct{ name, component string }

// running are the pods of an experiment that have not ended.
func (c cluster) running(t *testing.T, namespace, experiment string) (all []pod) {
	t.Helper()
	var list struct {
		Items []struct {
			Metadata struct {
				Name   string            `json:"name"`
				Labels map[string]string `json:"labels"`
			} `json:"metadata"`
			Status struct {
				Phase string `json:"phase"`
			} `json:"status"`
		} `json:"items"`
	}
	c.get(t, &list, "pods", "--namespace", namespace, "--selector", "replab.dev/experiment="+experiment)
	for _, p := range list.Items {
		if p.Status.Phase == "Running" {
			all = append(all, pod{p.Metadata.Name, p.Metadata.Labels["app.kubernetes.io/component"]})
		}
	}
	return all
}

// holdRun asks what the dashboards ask about a run.
func (c cluster) holdRun(t *testing.T, namespace string, r *run, asked map[string]bool) {
	t.Helper()
	now, answered := time.Now(), 0
	for file, d := range dashboards(t) {
		for _, q := range d.queries(t, file, namespace, r.name) {
			if file == "topology.json" && q.row != "" && !slices.Contains(r.rows, q.row) {
				continue
			}
			asked[q.where] = true
			answer, err := c.ask(t.Context(), q, r.began, now)
			why := ""
			if excuse := silent[q.where]; excuse != nil {
				why = excuse(r)
			}
			switch {
			case err != nil:
				t.Errorf("%s: %s: %s: %v", r.name, q.where, q.expr, err)
			case telling(answer, namespace):
				answered++
			case why != "":
				t.Logf("%s: %s has no answer: %s", r.name, q.where, why)
			default:
				t.Errorf("%s: %s has no answer: %s", r.name, q.where, q.expr)
			}
		}
	}
	t.Logf("%s: Prometheus has answered %d queries", r.name, answered)
}

// holdAlerts: where nothing is wrong an alert has nothing to say. So what it asks about has to be there.
func (c cluster) holdAlerts(t *testing.T, namespace string, began time.Time, asked map[string]bool) {
	t.Helper()
	now, told := time.Now(), documented(t)
	maps.Copy(told, foreign)
	for _, r := range rules(t) {
		q := query{where: "alert " + r.Alert, expr: r.Expr}
		asked[q.where] = true
		if _, err := c.ask(t.Context(), q, began, now); err != nil {
			t.Errorf("%s: %v", q.where, err)
		}
		for _, name := range check(t, q, told) {
			if name == "replab_experiment_undecodable" { // the API server refuses such an experiment today
				continue
			}
			if answer, err := c.ask(t.Context(), query{expr: fmt.Sprintf("count(%s{namespace=%q})", name, namespace)}, began, now); err != nil || !telling(answer, namespace) {
				t.Errorf("%s asks about %s, of which there is nothing: %v", q.where, name, err)
			}
		}
	}
}

// wronglyFired says which alerts have fired about a run, if these are not the one about its verdict, or none.
func (c cluster) wronglyFired(t *testing.T, namespace string, r *run) string {
	t.Helper()
	var fired, want []string
	if v := r.status.Verdict; v == "Inconclusive" || v == "Invalid" {
		want = []string{"ReplabRunInconclusive"}
	}
	q := query{expr: fmt.Sprintf(`count by (alertname) (ALERTS{alertname=~"Replab.*",alertstate="firing",namespace=%q,experiment=%q})`, namespace, r.name)}
	answer, err := c.ask(t.Context(), q, r.began, time.Now())
	found, ok := answer.(model.Matrix)
	if err != nil || !ok {
		return fmt.Sprintf("%s: ask which alerts fired: %v, %v", r.name, answer, err)
	}
	for _, s := range found {
		fired = append(fired, string(s.Metric["alertname"]))
	}
	if !slices.Equal(fired, want) {
		return fmt.Sprintf("%s is %s, and the alerts %q fired, want %q", r.name, r.status.Verdict, fired, want)
	}
	return ""
}
