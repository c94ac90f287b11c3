package k6

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"replab.dev/internal/wire"
)

// Several pods share a load by execution segments: together they make one.
func TestSegmentsShareTheLoad(t *testing.T) {
	t.Parallel()
	var runs []string
	for len(runs) < 3 { // a machine that is busy for some seconds is late too, and k6 that is held up at the end has some too many or too few
		ofPods, median := shareTheLoad(t)
		all, each := int64(0), true
		for _, n := range ofPods {
			all, each = all+n, each && n >= 45 && n <= 75
		}
		// A pod begins every 50 ms. One that took other ticks for its own would be anything between these late, or never.
		if each && all >= 178 && all <= 182 && median > 0 && median <= 12_500 {
			return
		}
		runs = append(runs, fmt.Sprintf("%v open iterations, the median late by %d µs", ofPods, median))
	}
	t.Errorf("three pods share 180 open iterations, 60 each; in each of several runs: %q", runs)
}

// shareTheLoad has three pods do so, and returns the open iterations of each, and the median of what the requests of these are late.
func shareTheLoad(t *testing.T) (ofPods []int64, median int64) {
	t.Helper()
	s := startTarget(t)
	config := load(closed("closed", 0, 1, 3), open("open", 1, 3, 60, 12))
	var runs []*k6Run
	for i := range 3 {
		runs = append(runs, start(t, s, Script(), config,
			fmt.Sprintf("--execution-segment=%d/3:%d/3", i, i+1), "--execution-segment-sequence=0,1/3,2/3,1"))
	}
	var pods []wire.K6Summary
	for _, r := range runs {
		summary, _ := r.succeed()
		ofPods = append(ofPods, summary.Stages[1].Iterations+summary.Stages[1].DroppedIterations)
		pods = append(pods, summary)
	}
	merged := Merge(pods)
	if n := int64(len(s.seen())); merged.Requests != n {
		t.Errorf("the server saw %d requests, the pods sent %d", n, merged.Requests)
	}
	sum := int64(0)
	for _, n := range ofPods {
		sum += n
	}
	if got := merged.Stages[1].Iterations + merged.Stages[1].DroppedIterations; got != sum {
		t.Errorf("the pods' open iterations are %d, merged %d", sum, got)
	}
	var open []request
	for _, r := range s.seen() {
		if r.header.Get(wire.HeaderStage) == "open" {
			open = append(open, r)
		}
	}
	late := lateness(t, open)
	slices.Sort(late)
	t.Logf("late: median %d µs", late[len(late)/2])
	return ofPods, late[len(late)/2]
}

// A pod whose segment has no user of a stage still ends well and says 0.
func TestPodWithoutWorkInAStage(t *testing.T) {
	t.Parallel()
	s := startTarget(t)
	config := load(closed("one", 0, 1, 1))
	first := start(t, s, Script(), config, "--execution-segment=0:1/2", "--execution-segment-sequence=0,1/2,1")
	second := start(t, s, Script(), config, "--execution-segment=1/2:1", "--execution-segment-sequence=0,1/2,1")
	a, _ := first.succeed()
	b, _ := second.succeed()
	if min(a.Requests, b.Requests) != 0 || max(a.Requests, b.Requests) == 0 {
		t.Fatalf("one user made %d and %d requests", a.Requests, b.Requests)
	}
	if merged := Merge([]wire.K6Summary{a, b}); merged.Stages[0].Iterations != int64(len(s.seen())) {
		t.Fatalf("merged: %+v", merged)
	}
}

func TestSummaryOf16StagesFitsTheMessage(t *testing.T) {
	t.Parallel()
	s := startTarget(t)
	var stages []wire.LoadStage
	for i := range 16 {
		stages = append(stages, open(fmt.Sprintf("a-long-stage-name-%02d", i), 0, 1, 5, 2))
	}
	summary, text := start(t, s, Script(), load(stages...)).succeed()
	if len(summary.Stages) != 16 || summary.Stages[15].Iterations == 0 {
		t.Fatalf("the summary is %+v", summary)
	}
	// Room for counts of an hour at 100,000/s and means of a minute: at most 9 and 8 digits where there are 1 and 4 here.
	if grown := len(text) + 17*4*9 + 16*5; grown > 4096 {
		t.Fatalf("the summary has %d bytes and may grow to %d; the message holds 4096", len(text), grown)
	}
}

func TestScriptSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	s := startTarget(t)
	noMix := load(closed("only", 0, 1, 1))
	noMix.Mix = nil
	for _, c := range []struct {
		name, script, want string
		config             any
		code               int
	}{
		{"a syntax error", "export default function () {", "main.js: Line 1:29 Unexpected end of input", load(), 107},
		{"no configuration", Script(), "REPLAB_LOAD and REPLAB_URL are needed", struct{}{}, 107},
		{"a mix of nothing", Script(), "no operation with a weight above 0", noMix, 107},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := start(t, s, c.script, c.config)
			if code, output := r.wait(); code != c.code || !strings.Contains(output, c.want) {
				t.Fatalf("k6 ended with %d, want %d with %q:\n%s", code, c.code, c.want, output)
			}
		})
	}
}

const userOptions = `
import http from 'k6/http';
import { helper } from './helper.js';
export const options = { vus: 2, iterations: 6 };
export function setup() { return { path: helper() }; }
export default function (data) { http.get(__ENV.REPLAB_URL + data.path, { headers: { 'X-User': 'yes' } }); }
`

func TestWrapperOfAUsersScript(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, script string
		requests     int64
		output       string
	}{
		{"options, setup, an import beside it and the default function are the user's", userOptions, 6, "replab: 6 requests"},
		{
			"the user's handleSummary is called and its text is kept",
			userOptions + `export function handleSummary(data) { return { stdout: 'mine: ' + data.metrics.iterations.values.count + '\n' }; }`, 6, "mine: 6",
		},
		{
			"a handleSummary that throws does not take the summary along",
			userOptions + `export function handleSummary() { throw new Error('broken'); }`, 6, "the script's handleSummary failed: Error: broken",
		},
		{
			"a script of scenarios needs no default function", `
import http from 'k6/http';
export const options = { scenarios: { own: { executor: 'shared-iterations', vus: 1, iterations: 3, exec: 'ask' } } };
export function ask() { http.get(__ENV.REPLAB_URL + 'own'); }`, 3, "replab: 3 requests",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := startTarget(t)
			dir := t.TempDir()
			write(t, filepath.Join(dir, "helper.js"), `export function helper() { return 'from-helper'; }`)
			write(t, filepath.Join(dir, "load test.js"), c.script)
			r := start(t, s, wrapper(filepath.Join(dir, "load test.js")), nil)
			summary, _ := r.succeed()
			if n := int64(len(s.seen())); n != c.requests || summary.Requests != n || summary.RegisteredKnown || summary.Stages != nil {
				t.Errorf("the server saw %d requests, want %d; the summary is %+v", n, c.requests, summary)
			}
			if !strings.Contains(r.output.String(), c.output) {
				t.Errorf("the output lacks %q:\n%s", c.output, r.output.String())
			}
		})
	}
}

// A threshold of the user's own that fails ends k6 with 99, and the summary is there all the same.
func TestUsersThresholdStillFails(t *testing.T) {
	t.Parallel()
	s := startTarget(t)
	file := filepath.Join(t.TempDir(), "own.js")
	write(t, file, `
import http from 'k6/http';
export const options = { iterations: 1, thresholds: { http_reqs: ['count>5'] } };
export default function () { http.get(__ENV.REPLAB_URL); }`)
	r := start(t, s, wrapper(file), nil)
	if code, output := r.wait(); code != 99 {
		t.Fatalf("k6 ended with %d:\n%s", code, output)
	}
	if summary, _ := r.read(); summary.Requests != 1 {
		t.Fatalf("the summary is %+v", summary)
	}
}
