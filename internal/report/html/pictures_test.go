package html

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"replab.dev/internal/figure"
	"replab.dev/internal/report/figures"
	"replab.dev/internal/report/reporttest"
	"replab.dev/internal/results"
)

// pictured are the results documents of files, with a comma between two; without any, the run of the tests.
func pictured(t *testing.T, files string) (all []results.Results) {
	t.Helper()
	if files == "" {
		return []results.Results{reporttest.SemiSync(t)}
	}
	for _, file := range strings.Split(files, ",") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var r results.Results
		if err := json.Unmarshal(text, &r); err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

// TestPointsStandWhereTheirBoundsAre: one between two bounds has no place.
func TestPointsStandWhereTheirBoundsAre(t *testing.T) {
	r := reporttest.SemiSync(t)
	l := r.Status.Load.Latency
	l.P50Microseconds, l.P95Microseconds, l.P99Microseconds, l.MaxMicroseconds = 3000, 9000, 20_000, 90_000
	r.Status.Bounds = nil
	b := (*figure.Bounds)(&r.Status.Bounds)
	b.Between("load.latency.p95Microseconds", 0, 400_000, "why")
	b.AtLeast("load.latency.p99Microseconds", 16_000, "why")
	var got []string
	for _, p := range points(figures.Of(r), "status.load", latencyPercentiles) {
		got = append(got, fmt.Sprint(p.Name, " at ", p.Value, p.Open))
	}
	want := []string{"p50 3 ms at 3000 false", "p99 ≥ 16 ms at 16000 true", "maximum 90 ms at 90000 false"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestChromiumTakesPictures of the pages for people, into the folder of REPLAB_PICTURES: of the report of a run, or of the comparison of several.
func TestChromiumTakesPictures(t *testing.T) {
	folder := os.Getenv("REPLAB_PICTURES")
	if folder == "" {
		t.Skip("REPLAB_PICTURES names no folder")
	}
	all := pictured(t, os.Getenv("REPLAB_RESULTS"))
	name, page := "report", written(t, all[0])
	if len(all) > 1 {
		name, page = "comparison", compared(t, all...)
	}
	take := func(suffix, page string, args ...string) {
		browse(t, page, append(args, "--screenshot="+filepath.Join(folder, name+suffix+".png"))...)
	}
	take("-1280", page, "--window-size=1280,4600")
	take("-dark", page, "--window-size=1280,4600", "--blink-settings=preferredColorScheme=0")
	take("-500", page, "--window-size=500,5200")
	// What is looked at lies in a window of its own: no window of the browser is narrower than 500.
	window := func(suffix string, width, height, above int) {
		inner := strings.NewReplacer("&", "&amp;", `"`, "&quot;").Replace(page)
		frame := fmt.Sprintf(`<!DOCTYPE html><body style="margin:0;overflow:hidden"><iframe style="border:0;width:%dpx;height:9000px;margin-top:-%dpx" srcdoc="%s"></iframe>`, width, above, inner)
		take(suffix, frame, fmt.Sprintf("--window-size=%d,%d", max(width, 500), height))
	}
	window("-390", 390, 5200, 0)
	for suffix, at := range map[string]string{"": "0", "-timeline": os.Getenv("REPLAB_PICTURES_TIMELINE")} {
		above, _ := strconv.Atoi(at)
		window(suffix, 960, 700+above/16, above)
	}
}
