package validation_test

import (
	"cmp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"replab.dev/api/v1alpha1/validation"
	"replab.dev/internal/check"
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
		"no node":                  {"metric: lostWrites,", "metric: nodeRows,", "spec.expectations[0].item: nodeRows is measured for each item"},
		"a node of no list":        {"metric: lostWrites,", "metric: lostWrites, item: db-0,", "spec.expectations[0].item: lostWrites has no items"},
		"a figure of stages alone": {"metric: lostWrites,", "metric: stageCPUMillicores, item: app,", "spec.expectations[0].stage: only stages have stageCPUMillicores"},
		"an unknown metric":        {"metric: lostWrites", "metric: losses", `spec.expectations[0].metric: "losses" is no figure`},
		"a figure without stages":  {"metric: lostWrites,", "metric: lostWrites, stage: steady,", "spec.expectations[0].stage: stages have no lostWrites"},
		"no subject":               {"{variant: a, metric: lostWrites", "{metric: lostWrites", "spec.expectations[0]: an expectation is of a variant or of a comparison"},
		"no limit":                 {"lostWrites, max: 0", "lostWrites", "spec.expectations[0]: the expectation has no limit"},
		"limits that exclude":      {"lostWrites, max: 0", "lostWrites, max: 0, min: 1", "spec.expectations[0].min: min is above max"},
		"percent of a variant":     {"lostWrites, max: 0", "lostWrites, max: 0, minPercent: 1", "spec.expectations[0]: maxPercent and minPercent limit a comparison"},
		"more than all trials":     {"lostWrites, max: 0", "lostWrites, max: 0, inAtLeastTrials: 7", "spec.expectations[0].inAtLeastTrials: each variant has 6 trials"},
		"a ratio not compared":     {"comparison: a/b", "comparison: b/a", `spec.expectations[1].comparison: spec.comparisons has no "b/a"`},
		"a ratio of nothing":       {"minPercent: 70", "minPercent: 0", "spec.expectations[1].minPercent: every ratio meets this limit"},
		"ratios up to a limit":     {"minPercent: 70", "minPercent: 0, maxPercent: 70", ""},
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

const wholeSuite = `
apiVersion: replab.dev/v1alpha1
kind: ReplicationSuite
metadata: {name: suite}
spec:
  template:
    spec:
      topology: {type: Galera, nodes: 3}
      load: {stages: [{name: steady, durationSeconds: 30, requestsPerSecond: 10}]}
      probes: {lag: {sweepPayloadBytes: [1000, 2000]}}
      baseline: {name: before}
  variants: [{name: a}, {name: b, patch: {topology: {nodes: 4}}}]
  trials: 6
  comparisons: [{of: b, to: a, metrics: [nodeRows]}]
  expectations:
  - {variant: a, metric: lostWrites, max: 0}
`

// toldOfSuite is what `kubectl replab check` says of the suite with another first expectation, and with more fields.
func toldOfSuite(t *testing.T, expectation, more string) string {
	t.Helper()
	return toldOf(t, strings.Replace(wholeSuite, "variant: a, metric: lostWrites, max: 0", expectation, 1)+more)
}

func toldOf(t *testing.T, text string) string {
	t.Helper()
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &object.Object); err != nil {
		t.Fatal(err)
	}
	answer, err := check.Suite(t.Context(), object, servers)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(answer.Sentences(), "\n")
}

func TestLimitsOfExpectations(t *testing.T) {
	const drawn = "  drawFaults: {actions: [Kill]}\n"
	for name, c := range map[string]struct{ expectation, more, want string }{
		"none lost":                        {"variant: a, metric: lostWrites, max: 0", "", ""},
		"any number lost":                  {"variant: a, metric: lostWrites, min: 0", "", "spec.expectations[0].min: every value meets this limit"},
		"fewer than none lost":             {"variant: a, metric: lostWrites, max: -1", "", "spec.expectations[0].max: lostWrites is never below 0, so no value meets this limit"},
		"a negative rate of a processor":   {"variant: a, metric: stageCPUMillicores, stage: steady, item: db-0, min: -1", "", "spec.expectations[0].min: stageCPUMillicores is never below 0"},
		"no time for requests of a stage":  {"variant: a, metric: p99Microseconds, stage: steady, max: 0", "", "spec.expectations[0].max: every request takes some time"},
		"more than the whole time":         {"variant: a, metric: flowControlPausedPercent, max: 1000", "", "spec.expectations[0].max: every percentage is at most 100"},
		"a part of the time":               {"variant: a, metric: flowControlPausedPercent, max: 99", "", ""},
		"more than twice the baseline":     {"variant: a, metric: p99Percent, min: 101", "", ""},
		"up to thrice the baseline":        {"variant: a, metric: requestsPerSecondPercent, max: 200", "", ""},
		"more lost than the load sends":    {"variant: a, metric: lostWrites, min: 301", "", "spec.expectations[0].min: open loops send 300 requests in all, so no value meets this limit"},
		"all of the load lost":             {"variant: a, metric: lostWrites, min: 300", "", ""},
		"a rate that is never exceeded":    {"variant: a, metric: requestsPerSecond, max: 10", "", "spec.expectations[0].max: open loops send 10 requests a second on average, so every value meets this limit"},
		"the rate of a stage":              {"variant: a, metric: requestsPerSecond, stage: steady, max: 10", "", ""},
		"an outage as long as the load":    {"variant: a, metric: outageMilliseconds, max: 30000", "", "spec.expectations[0].max: the load ends at 30000 ms"},
		"an outage within the load":        {"variant: a, metric: outageMilliseconds, max: 29999", "", ""},
		"an outage in loads of any length": {"variant: a, metric: outageMilliseconds, max: 3600000", drawn, ""},
		"less than nothing in any load":    {"variant: a, metric: outageMilliseconds, max: -1", drawn, "spec.expectations[0].max: outageMilliseconds is never below 0"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := toldOfSuite(t, c.expectation, c.more); !strings.Contains(got, c.want) || (c.want == "") != (got == "") {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// TestNegativeLimitsOfSignedFigures: all figures that may be below 0.
func TestNegativeLimitsOfSignedFigures(t *testing.T) {
	for _, figure := range []string{
		"lagP50Microseconds", "lagP99Microseconds", "lagMaxMicroseconds", "nodeLagP50Microseconds, item: db-1", "nodeLagP99Microseconds, item: db-1",
		"nodeLagMaxMicroseconds, item: db-1", `lagSizeBareP50Microseconds, item: "1000"`, `lagSizeBareP99Microseconds, item: "1000"`,
		"detectionMilliseconds", "routingMilliseconds", "requestsPerSecondPercent", "p99Percent",
	} {
		for _, limit := range []string{"max: -1", "min: -1", "min: 0"} {
			if got := toldOfSuite(t, "variant: a, metric: "+figure+", "+limit, "  drawFaults: {actions: [Kill]}\n"); got != "" {
				t.Errorf("%s, %s: %q", figure, limit, got)
			}
		}
	}
}

func TestFiguresThatTrialsDoNotMeasure(t *testing.T) {
	single := strings.NewReplacer("type: Galera, nodes: 3", "type: Single", "{nodes: 4}", "{type: Async, nodes: 2}", "      baseline: {name: before}\n", "", "      probes: {lag: {sweepPayloadBytes: [1000, 2000]}}\n", "", "[nodeRows]", "[p99Microseconds]")
	for figure, want := range map[string]string{
		"timeouts":                                   "no timeout is set",
		"deadlocks":                                  "only type Galera",
		"receiveQueueMax":                            "only type Galera",
		"lostWhileDegraded":                          "only type Patroni",
		"nodeLostWrites, item: db-0":                 "only two primaries",
		"p99Percent":                                 "there is no baseline",
		"failoverMilliseconds":                       "the experiment has no fault",
		"resyncReceivedBytes, item: crash":           "the experiment has no fault",
		"nodeLagP99Microseconds, item: db-0":         "the lag needs replicas",
		"lagSizeTotalP50Microseconds, item: '1000'":  "the lag probe writes rows of one size",
		"beforeP99RoundTripMicroseconds, item: db-0": "no link has a distance",
		"stageBoundRequestsPerSecond, stage: steady": "no link has a distance",
	} {
		text := single.Replace(strings.Replace(wholeSuite, "variant: a, metric: lostWrites, max: 0", "variant: a, metric: "+figure+", max: 99", 1))
		if got := toldOf(t, text); !strings.Contains(got, "spec.expectations[0].metric: "+want) {
			t.Errorf("%s: %q, want %q", figure, got, want)
		}
	}
	compared := strings.Replace(single.Replace(wholeSuite), "[p99Microseconds]", "[p99Microseconds, lagP99Microseconds]", 1)
	if got := toldOf(t, compared); !strings.HasPrefix(got, "spec.comparisons[0].metrics[1]: the lag needs replicas") {
		t.Errorf("compared: %q", got)
	}
}

func TestItemsOfNodesThatVariantsLack(t *testing.T) {
	for name, c := range map[string]struct{ expectation, more, want string }{
		"the last node":                 {"variant: a, metric: nodeRows, item: db-2, max: 5", "", ""},
		"a node too many":               {"variant: a, metric: nodeRows, item: db-3, max: 5", "", "spec.expectations[0].item: variant a has no node db-3: its topology.nodes is 3."},
		"the last node of a variant":    {"variant: b, metric: nodeRows, item: db-3, max: 5", "", ""},
		"a number of many digits":       {"variant: b, metric: nodeRows, item: db-30000000000000000000, max: 5", "", "spec.expectations[0].item: variant b has no node db-30000000000000000000"},
		"a direction":                   {"variant: a, metric: replicationSentBytes, item: db-2 to db-0, max: 5", "", "spec.expectations[0].metric: only two primaries have this figure"},
		"a direction from no node":      {"variant: a, metric: replicationSentBytes, item: db-3 to db-0, max: 5", "", "spec.expectations[0].item: variant a has no node db-3"},
		"a direction to no node":        {"variant: a, metric: replicationSentBytes, item: db-0 to db-3, max: 5", "", "spec.expectations[0].item: variant a has no node db-3"},
		"a process":                     {"variant: a, metric: stageCPUMillicores, stage: steady, item: app, max: 5", "", ""},
		"a comparison of one side":      {"comparison: b/a, metric: nodeRows, item: db-3, maxPercent: 90", "", "spec.expectations[0].item: variant a has no node db-3"},
		"a comparison of both":          {"comparison: b/a, metric: nodeRows, item: db-2, maxPercent: 90", "", ""},
		"a published figure":            {"variant: a, metric: lostWrites, max: 0", "  reference: [{variant: b, metric: nodeRows, item: db-3, value: \"1\", source: a page}]\n", ""},
		"a published figure of no node": {"variant: a, metric: lostWrites, max: 0", "  reference: [{variant: a, metric: nodeRows, item: db-3, value: \"1\", source: a page}]\n", "spec.reference[0].item: variant a has no node db-3"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := toldOfSuite(t, c.expectation, c.more); !strings.Contains(got, c.want) || (c.want == "") != (got == "") {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestItemsThatNoTrialHas(t *testing.T) {
	const (
		fault = "      faults: [{name: crash, atSeconds: 15, target: Primary, action: Kill, holdSeconds: 5}]\n"
		every = "      faults: [{name: crash, atSeconds: 15, target: AllReplicas, action: Kill, holdSeconds: 5}]\n"
		zone  = "      topology: {zones: [{name: near, nodes: [0]}, {name: far, nodes: [1, 2]}]}\n" +
			"      faults: [{name: cut, atSeconds: 15, target: Node, node: 1, action: Partition, partitionFrom: Zone, holdSeconds: 5}]\n"
		links  = "      topology: {zones: [{name: near, nodes: [0]}, {name: far, nodes: [1, 2]}], links: [{from: near, to: far, roundTripMilliseconds: 10}]}\n"
		drawn  = "  drawFaults: {actions: [Kill], count: 2, nodes: [1, 2]}\n"
		cut    = "  drawFaults: {actions: [Kill], count: 2, duringPartitionSeconds: 7}\n"
		stated = "spec.expectations[0].item: variant a has no "
	)
	for name, c := range map[string]struct{ spec, expectation, more, want string }{
		"no name of a node":        {"", "nodeRows, item: primary", "", `node "primary". Use db- and a number, such as db-0.`},
		"a node with a zero":       {"", "nodeRows, item: db-00", "", "node db-00: its topology.nodes is 3."},
		"a process":                {"", "stageCPUMillicores, stage: steady, item: proxy", "", ""},
		"k6":                       {"", "stageCPUMillicores, stage: steady, item: k6", "", ""},
		"k6 of another operator":   {"      load: {runner: K6Operator}\n", "stageCPUMillicores, stage: steady, item: k6", "", `process "k6". Use app, recorder, proxy or a node such as db-0.`},
		"no proxy":                 {"      topology: {type: Async}\n      routing: {proxy: None}\n", "stageCPUMillicores, stage: steady, item: proxy", "", `process "proxy". Use app, recorder, k6, director or a node such as db-0.`},
		"a director of a group":    {"", "stageCPUMillicores, stage: steady, item: director", "", `process "director". Use app, recorder, proxy, k6 or a node`},
		"a director":               {"      topology: {type: Async}\n", "stageCPUMillicores, stage: steady, item: director", "", ""},
		"a node as a process":      {"", "stageCPUMillicores, stage: steady, item: db-7", "", "node db-7: its topology.nodes is 3."},
		"a size":                   {"", `lagSizeSamples, item: "2000"`, "", ""},
		"no size":                  {"", `lagSizeSamples, item: "3000"`, "", `rows of "3000" bytes. Use a number of probes.lag.sweepPayloadBytes.`},
		"a fault":                  {fault, "rejoinMilliseconds, item: crash", "", ""},
		"no fault":                 {fault, "rejoinMilliseconds, item: crsh", "", `fault "crsh". Use the name of one of its faults.`},
		"a second replica":         {every, "rejoinMilliseconds, item: crash.2", "", ""},
		"a replica for each node":  {every, "rejoinMilliseconds, item: crash.3", "", ""},
		"a replica too many":       {every, "rejoinMilliseconds, item: crash.4", "", `fault "crash.4". Use the name of one of its faults.`},
		"a replica with a zero":    {every, "rejoinMilliseconds, item: crash.02", "", `fault "crash.02". Use the name of one of its faults.`},
		"a first replica":          {every, "rejoinMilliseconds, item: crash.1", "", `fault "crash.1". Use the name of one of its faults.`},
		"a second node of a zone":  {zone, "rejoinMilliseconds, item: cut.2", "", ""},
		"a second primary":         {fault, "rejoinMilliseconds, item: crash.2", "", `fault "crash.2". Use the name of one of its faults.`},
		"a node as a fault":        {fault, "resyncReceivedBytes, item: db-0", "", `fault "db-0". Use the name of one of its faults.`},
		"a drawn fault":            {"", "rejoinMilliseconds, item: draw-2-2", drawn, ""},
		"a drawn fault too many":   {"", "rejoinMilliseconds, item: draw-3-1", drawn, `drawn fault "draw-3-1". Use draw-1-1 for`},
		"a drawn fault of no node": {"", "rejoinMilliseconds, item: draw-1-3", drawn, `drawn fault "draw-1-3". Use draw-1-1 for`},
		"no drawn partition":       {"", "rejoinMilliseconds, item: cut-1-1", drawn, `drawn fault "cut-1-1". Use draw-1-1 for`},
		"a drawn partition":        {"", "rejoinMilliseconds, item: cut-2-1", cut, ""},
		"a round trip":             {links, "beforeRoundTripMicroseconds, item: db-0 to db-1", "", ""},
		"a round trip to a pod":    {links, "beforeRoundTripMicroseconds, item: db-0 to proxy-0", "", ""},
		"half of a round trip":     {links, "beforeRoundTripMicroseconds, item: db-0", "", `direction "db-0". Write it as db-0 to db-1.`},
		"a round trip to itself":   {links, "beforeRoundTripMicroseconds, item: db-0 to db-0", "", `direction "db-0 to db-0". Write it`},
		"a round trip to no node":  {links, "beforeRoundTripMicroseconds, item: db-0 to db-3", "", "node db-3: its topology.nodes is 3."},
	} {
		t.Run(name, func(t *testing.T) {
			object, patch := map[string]any{}, map[string]any{}
			text := strings.Replace(wholeSuite, "metric: lostWrites, max: 0", "metric: "+c.expectation+", max: 5", 1) + c.more
			for into, from := range map[*map[string]any]string{&object: text, &patch: "spec:\n  template:\n    spec:\n" + cmp.Or(c.spec, "      {}\n")} {
				if err := yaml.Unmarshal([]byte(from), into); err != nil {
					t.Fatal(err)
				}
			}
			experiment.Merge(object, patch)
			answer, err := check.Suite(t.Context(), &unstructured.Unstructured{Object: object}, servers)
			if err != nil {
				t.Fatal(err)
			}
			got, want := strings.Join(answer.Sentences(), "\n"), c.want
			if want != "" {
				want = stated + want
			}
			if !strings.Contains(got, want) || (want == "") != (got == "") {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

// TestAFaultMayHaveTheNameOfANode: its figures have its name as their item.
func TestAFaultMayHaveTheNameOfANode(t *testing.T) {
	more := "  - {variant: c, metric: faultOutageMilliseconds, item: db-7, max: 900}\n"
	text := "{name: c, patch: {faults: [{name: db-7, atSeconds: 15, target: Node, node: 1, action: Kill, holdSeconds: 5}]}}"
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(strings.Replace(wholeSuite, "{name: a}", "{name: a}, "+text, 1)+more), &object.Object); err != nil {
		t.Fatal(err)
	}
	answer, err := check.Suite(t.Context(), object, servers)
	if err != nil {
		t.Fatal(err)
	}
	if got := answer.Sentences(); len(got) > 0 {
		t.Errorf("%q", got)
	}
}
