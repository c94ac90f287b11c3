package validation_test

import (
	"strings"
	"testing"

	"replab.dev/api/v1alpha1/validation"
	"replab.dev/internal/suite"
	"replab.dev/test/experiment"
)

const goodSuite = `
apiVersion: replab.dev/v1alpha1
kind: ReplicationSuite
metadata: {name: suite}
spec:
  template: {spec: {topology: {type: Async, nodes: 3}}}
  variants: [{name: a}, {name: b, patch: {dataset: {users: 1}}}]
  trials: 6
  comparisons: [{of: a, to: b, metrics: [requestsPerSecond]}]
  expectations:
  - {variant: a, metric: lostWrites, max: 0}
  - {comparison: a/b, metric: requestsPerSecond, stage: steady, minPercent: 70}
  reference: [{variant: a, metric: meanMicroseconds, stage: steady, value: "320.5", source: a page}]
`

func TestSuiteRules(t *testing.T) {
	for name, c := range map[string]struct{ from, to, want string }{
		"nothing is wrong":         {"", "", ""},
		"a field of the suite":     {"{topology: {", "{keep: Never, topology: {", "spec.template.spec.keep: the suite sets"},
		"a large template":         {"type: Async", "type: " + strings.Repeat("x", 65<<10), "spec.template: the suite's spec has more than 65536 bytes"},
		"too many runs":            {"variants: [", "variants: [{name: c}, {name: d}, {name: e}, {name: f}, {name: g}, {name: h}, {name: i}, {name: j}, {name: k}, ", "spec.trials: the suite would have up to 1102 runs"},
		"names of 40 characters":   {"{name: suite}", "{name: suite-of-twenty-six-letters-abc}", ""},
		"a name that is too long":  {"{name: suite}", "{name: suite-of-thirty-six-characters-abc}", "spec.variants[0].name: a trial would be named suite-of-thirty-six-characters-abc-a-6-r3, of 41 characters"},
		"an unknown variant":       {"of: a,", "of: c,", `spec.comparisons[0].of: there is no variant "c"`},
		"a comparison with itself": {"to: b,", "to: a,", "spec.comparisons[0].to: a variant is compared with itself"},
		"figures of nodes":         {"metrics: [requestsPerSecond]", "metrics: [requestsPerSecond, nodeRows, stageCPUMillicores]", ""},
		"an unknown comparison":    {"metrics: [requestsPerSecond]", "metrics: [requestsPerSecond, rows]", `spec.comparisons[0].metrics[1]: "rows" is no figure`},
		"a node's figure":          {"metric: lostWrites,", "metric: nodeRows, item: db-0,", ""},
		"no node":                  {"metric: lostWrites,", "metric: nodeRows,", "spec.expectations[0].item: nodeRows is a figure of each item of a list"},
		"a node of no list":        {"metric: lostWrites,", "metric: lostWrites, item: db-0,", "spec.expectations[0].item: lostWrites is in no list"},
		"a figure of stages alone": {"metric: lostWrites,", "metric: stageCPUMillicores, item: app,", "spec.expectations[0].stage: only stages have stageCPUMillicores"},
		"an unknown metric":        {"metric: lostWrites", "metric: losses", `spec.expectations[0].metric: "losses" is no figure`},
		"a figure without stages":  {"metric: lostWrites,", "metric: lostWrites, stage: steady,", "spec.expectations[0].stage: stages have no lostWrites"},
		"no subject":               {"{variant: a, metric: lostWrites", "{metric: lostWrites", "spec.expectations[0]: an expectation is of a variant or of a comparison"},
		"no limit":                 {"lostWrites, max: 0", "lostWrites", "spec.expectations[0]: the expectation has no limit"},
		"limits that exclude":      {"lostWrites, max: 0", "lostWrites, max: 0, min: 1", "spec.expectations[0].min: min is above max"},
		"percent of a variant":     {"lostWrites, max: 0", "lostWrites, max: 0, minPercent: 1", "spec.expectations[0]: maxPercent and minPercent limit a comparison"},
		"more than all trials":     {"lostWrites, max: 0", "lostWrites, max: 0, inAtLeastTrials: 7", "spec.expectations[0].inAtLeastTrials: each variant has 6 trials"},
		"a ratio not compared":     {"comparison: a/b", "comparison: b/a", `spec.expectations[1].comparison: spec.comparisons has no "b/a"`},
		"a limit of trials":        {"minPercent: 70", "min: 70", "spec.expectations[1]: the expectation has no limit"},
		"too few rounds":           {"trials: 6", "trials: 5", "spec.expectations[1]: an interval needs 6 rounds"},
		"an unknown reference":     {"{variant: a, metric: mean", "{variant: c, metric: mean", `spec.reference[0].variant: there is no variant "c"`},
		"faults of its own":        {"{topology: {", "{faults: [], topology: {", ""},
		"faults and drawn faults":  {"template: {spec: {", "drawFaults: {actions: [Kill]}\n  template: {spec: {faults: [], ", "spec.template.spec.faults: spec.drawFaults draws the faults"},
		"too many drawn faults":    {"trials: 6", "trials: 6\n  drawFaults: {actions: [Kill], count: 9, nodes: [1, 2]}", "spec.drawFaults.count: a trial would have up to 18 faults"},
		"holds that exclude":       {"trials: 6", "trials: 6\n  drawFaults: {actions: [Kill], minSeconds: 11}", "spec.drawFaults.minSeconds: minSeconds is above"},
		"partitions in another":    {"trials: 6", "trials: 6\n  drawFaults: {actions: [Partition], duringPartitionSeconds: 7}", "spec.drawFaults.actions: duringPartitionSeconds draws partitions"},
		"sides of no partition":    {"trials: 6", "trials: 6\n  drawFaults: {actions: [Kill], partitionFrom: [Peers]}", "spec.drawFaults.partitionFrom: no Partition is drawn"},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(goodSuite, c.from, c.to, 1)
			if name == "too many runs" {
				text = strings.Replace(text, "trials: 6", "trials: 100", 1)
			}
			got := validation.Message(validation.Suite(experiment.ParseSuite(t, []byte(text)), suite.Metric))
			if !strings.Contains(got, c.want) || (c.want == "") != (got == "") {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
