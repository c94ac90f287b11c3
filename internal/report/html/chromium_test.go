package html

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"replab.dev/internal/figure"
	"replab.dev/internal/report/figures"
	"replab.dev/internal/report/reporttest"
	"replab.dev/internal/results"
	"replab.dev/test/benchmark"
	"replab.dev/test/unit"
)

// chromium is the browser, of Debian's package of that name. Without it these tests are skipped, unless REPLAB_REQUIRE_CHROMIUM is set.
func chromium(t *testing.T) string {
	t.Helper()
	unit.Leave(t)
	path, err := exec.LookPath("chromium")
	switch {
	case err == nil:
		return path
	case os.Getenv("REPLAB_REQUIRE_CHROMIUM") != "":
		t.Fatal("there is no chromium: install Debian's package of that name")
	}
	t.Skip("there is no chromium")
	return ""
}

// browse runs the browser on a page, and returns what it wrote: the page's elements as they then are, and its log.
func browse(t *testing.T, page string, args ...string) (dom, log string) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "report.html")
	if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	all := append([]string{
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run", "--disable-background-networking",
		"--user-data-dir=" + filepath.Join(dir, "profile"), "--enable-logging=stderr",
	}, args...)
	cmd := exec.CommandContext(ctx, chromium(t), append(all, "file://"+file)...)
	cmd.WaitDelay = 5 * time.Second
	var out, said strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		t.Fatalf("chromium: %v\n%s", err, said.String())
	}
	for line := range strings.Lines(said.String()) {
		if strings.Contains(line, "CONSOLE") {
			t.Errorf("the page has something to say on the console: %s", line)
		}
	}
	return out.String(), said.String()
}

// handled is what came of pointing at the page, told by probe.
type handled struct {
	Readout  string  `json:"readout"`
	Keyed    string  `json:"keyed"` // what is read out by the cursor
	Hidden   bool    `json:"hidden"`
	Without  string  `json:"without"` // what is read out while a line is hidden
	Whole    string  `json:"whole"`
	Dragged  string  `json:"dragged"`
	Fault    string  `json:"fault"`
	Closer   string  `json:"closer"`
	Back     string  `json:"back"`
	Pressed  string  `json:"pressed"` // the button of what is shown
	Ticks    int     `json:"ticks"`
	Wide     float64 `json:"wide"` // by how much the page is wider than its window
	Loaded   float64 `json:"loaded"`
	Pictures int     `json:"pictures"`
	Colour   string  `json:"colour"`
	Ground   string  `json:"ground"`
}

// probe handles the page as a person would, and leaves what came of it in an element.
const probe = `addEventListener("load", () => {
const out = {};
out.laidOut = document.body.getBoundingClientRect().height > 0; out.loaded = performance.now();
const panel = document.querySelector('[data-picture="requests"]'), plot = panel.querySelector(".plot"), svg = panel.querySelector("svg"), box = plot.getBoundingClientRect();
out.pictures = document.querySelectorAll("[data-chart]").length;
const view = () => svg.getAttribute("viewBox");
const press = (name) => { const b = [...document.querySelectorAll(".tools button")].find((b) => b.textContent.startsWith(name)); b.focus(); document.activeElement.click(); };
const send = (type, part) => plot.dispatchEvent(new PointerEvent(type, {clientX: box.left + part * box.width, clientY: box.top + 5, bubbles: true}));
const readout = () => document.getElementById("readout").textContent;
press("Whole run"); out.whole = view();
send("pointermove", 0.43); out.readout = readout();
const cursor = document.getElementById("cursor"); cursor.value = 22.5; cursor.dispatchEvent(new Event("input")); out.keyed = readout();
const key = panel.querySelector('[data-key="1"]');
key.click(); out.hidden = getComputedStyle(svg.querySelector('[data-series="1"]')).display === "none";
send("pointermove", 0.43); out.without = readout();
key.click();
send("pointerdown", 0.25); send("pointerup", 0.5); out.dragged = view();
press("Fault at"); out.fault = view(); out.pressed = document.querySelector(".tools [aria-pressed=true]").textContent;
out.ticks = document.querySelectorAll(".time span").length;
press("Closer"); out.closer = view();
press("Stages that count"); out.back = view();
out.wide = document.documentElement.scrollWidth - innerWidth;
out.colour = getComputedStyle(svg.querySelector(".series")).stroke; out.ground = getComputedStyle(document.body).backgroundColor;
const pre = document.createElement("pre"); pre.id = "probe"; pre.textContent = JSON.stringify(out); document.body.append(pre);
});`

func handle(t *testing.T, r results.Results, args ...string) (handled, string) {
	t.Helper()
	page := strings.Replace(written(t, r), "script-src ", "script-src '"+hashOf(probe)+"' ", 1)
	dom, _ := browse(t, strings.Replace(page, "</body>", "<script>"+probe+"</script></body>", 1), append(args, "--dump-dom")...)
	var h handled
	if err := json.Unmarshal([]byte(probed(t, dom)), &h); err != nil {
		t.Fatal(err)
	}
	return h, dom
}

// probed is what a script left in the page.
func probed(t *testing.T, dom string) string {
	t.Helper()
	for _, e := range elements(t, dom, "id") {
		if e["id"] == "probe" {
			return e["text"]
		}
	}
	t.Fatalf("the page was not handled:\n%s", dom[:min(len(dom), 2000)])
	return ""
}

// TestChromiumShowsTheDocumentsNumbers without a word on the console, and the pictures can be pointed at.
func TestChromiumShowsTheDocumentsNumbers(t *testing.T) {
	chromium(t)
	r := reporttest.SemiSync(t)
	*r.Recorder.Timeline[21].P99Microseconds = 1_399_960 // a lower bound: it is not to be read out as 1.4 s
	h, dom := handle(t, r, "--window-size=1280,900")
	shown := elements(t, dom, "data-figure")
	d := figures.Of(r)
	for _, e := range shown {
		if v := d.Figure(e["data-figure"]).Value; v == nil || strconv.FormatInt(*v, 10) != e["value"]+e["data-value"] {
			t.Errorf("%s is shown as %s", e["data-figure"], e["value"])
		}
	}
	// 0.43 of 50 s is in the second that begins 21 s after the load did.
	second := r.Recorder.Timeline[21]
	want := "21 s (12:00:21): succeeded " + figure.Grouped(second.Requests-second.Failures) + " · failed " + figure.Grouped(second.Failures) + " · latency p50 "
	if !strings.HasPrefix(h.Readout, want) || !strings.Contains(h.Readout, "p99 ≥ 1.399 s") || !strings.Contains(h.Readout, "lag semisync-db-0 2 s") {
		t.Errorf("it reads out %q, want %q", h.Readout, want)
	}
	if !h.Hidden || strings.Contains(h.Without, "failed") {
		t.Errorf("a line that was hidden is there: %+v", h)
	}
	if !strings.HasPrefix(h.Keyed, "22 s (12:00:22): ") {
		t.Errorf("the cursor reads out %q", h.Keyed)
	}
	// A second is two wide.
	if h.Whole != "0 0 100 1000" || h.Back != "10 0 90 1000" || !strings.HasPrefix(h.Dragged, "25 0 25") || !strings.HasPrefix(h.Fault, "34 0 15.2") || h.Pressed != "Fault at 20.0 s" || h.Closer == h.Fault || h.Ticks < 3 {
		t.Errorf("it was looked at closer: %+v", h)
	}
	if len(shown) < 80 || h.Pictures < 7 || h.Wide > 0 {
		t.Errorf("%d figures, %d pictures, %g px too wide", len(shown), h.Pictures, h.Wide)
	}
}

// TestChromiumOnATelephoneAndInTheDark: nothing makes the page wider than its window, and the colours are others in the dark.
func TestChromiumOnATelephoneAndInTheDark(t *testing.T) {
	chromium(t)
	r := reporttest.SemiSync(t)
	light, _ := handle(t, r, "--window-size=500,900") // the narrowest window that there is
	dark, _ := handle(t, r, "--window-size=500,900", "--blink-settings=preferredColorScheme=0")
	if light.Wide > 0 {
		t.Errorf("the page is %g px too wide", light.Wide)
	}
	if light.Ground == dark.Ground || light.Colour == dark.Colour {
		t.Errorf("light is %s on %s, dark %s on %s", light.Colour, light.Ground, dark.Colour, dark.Ground)
	}
}

// pages of each kind: of a run that lost writes, of two runs, and of a suite.
func pages(t *testing.T) map[string]string {
	t.Helper()
	lost := reporttest.Run(t, reporttest.Shape{Experiment: "semisync", Seconds: 45, FaultAt: 20, Lost: 64})
	return map[string]string{"a report": written(t, lost), "a comparison": compared(t, lost, lost), "a suite": pageOf(t, ofTwo())}
}

// TestChromiumOnANarrowTelephone of 390 pixels: nothing but a table or a text in a box of its own is wider. No window is so narrow, but a frame is.
func TestChromiumOnANarrowTelephone(t *testing.T) {
	chromium(t)
	for name, page := range pages(t) {
		const look = `const frame = document.querySelector("iframe");
frame.addEventListener("load", () => {
const d = frame.contentDocument, over = [];
for (const e of d.querySelectorAll("body *")) if (e.getBoundingClientRect().right > 391 && !e.closest(".scroll, pre, svg")) over.push(e.outerHTML.slice(0, 200));
const pre = document.createElement("pre"); pre.id = "probe"; pre.textContent = JSON.stringify([String(d.documentElement.scrollWidth), ...over]); document.body.append(pre);
});`
		inner := strings.NewReplacer("&", "&amp;", `"`, "&quot;").Replace(page)
		dom, _ := browse(t, `<!DOCTYPE html><body><iframe style="width:390px;height:900px;border:0" srcdoc="`+inner+`"></iframe><script>`+look+`</script>`, "--window-size=500,900", "--dump-dom")
		if got := probed(t, dom); got != `["390"]` {
			t.Errorf("%s is wider than 390: %s", name, got)
		}
	}
}

// TestChromiumFindsNothingSerious in the pages, light and dark, by axe-core: REPLAB_AXE names its axe.min.js.
func TestChromiumFindsNothingSerious(t *testing.T) {
	chromium(t)
	file := os.Getenv("REPLAB_AXE")
	if file == "" {
		t.Skip("REPLAB_AXE names no axe.min.js of axe-core")
	}
	axe, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const run = `axe.run({resultTypes: ["violations"]}).then((r) => {
const pre = document.createElement("pre"); pre.id = "probe";
pre.textContent = JSON.stringify(r.violations.map((v) => v.impact + " " + v.id + ": " + v.nodes.slice(0, 5).map((n) => n.html + " " + n.failureSummary).join("; ")), null, 1);
document.body.append(pre);
});`
	policy := regexp.MustCompile(`<meta http-equiv="Content-Security-Policy"[^>]*>`)
	for name, page := range pages(t) {
		page = strings.Replace(policy.ReplaceAllString(page, ""), "</body>", "<script>"+string(axe)+"</script><script>"+run+"</script></body>", 1)
		for _, scheme := range []string{"0", "1"} {
			dom, _ := browse(t, page, "--window-size=1000,900", "--blink-settings=preferredColorScheme="+scheme, "--virtual-time-budget=60000", "--dump-dom")
			if got := probed(t, dom); got != "[]" {
				t.Errorf("%s in scheme %s: %s", name, scheme, got)
			}
		}
	}
}

// TestChromiumShowsAComparison without a word on the console, and all of its figures.
func TestChromiumShowsAComparison(t *testing.T) {
	chromium(t)
	page := compared(t, reporttest.SemiSync(t), reporttest.SemiSync(t))
	dom, _ := browse(t, page, "--window-size=500,900", "--dump-dom")
	if got, want := len(elements(t, dom, "data-figure")), len(elements(t, page, "data-figure")); got != want || got < 30 {
		t.Errorf("%d figures are shown of %d", got, want)
	}
}

// TestChromiumPrints a report, which has no shadows and no script on paper.
func TestChromiumPrints(t *testing.T) {
	chromium(t)
	paper := filepath.Join(t.TempDir(), "report.pdf")
	browse(t, written(t, reporttest.SemiSync(t)), "--print-to-pdf="+paper)
	text, err := os.ReadFile(paper)
	if err != nil || !strings.HasPrefix(string(text), "%PDF-") || len(text) < 50_000 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}

// TestBenchChromiumOpensAnHour prints how long it took.
func TestBenchChromiumOpensAnHour(t *testing.T) {
	benchmark.Skip(t)
	chromium(t)
	h, _ := handle(t, reporttest.Hour(t), "--window-size=1280,900")
	if h.Pictures < 7 {
		t.Errorf("an hour's report has %d pictures", h.Pictures)
	}
	benchmark.Figure{What: "report of an hour with ten nodes, until Chromium has loaded it", Value: h.Loaded, Unit: "ms", Target: benchmark.AtMost(2000)}.Print()
}
