package prometheus

import (
	"os"
	"os/exec"
	"testing"
)

// TestPromtool has Prometheus' own tool check the alerts, and carry out what testdata/alerts.yaml says of when they fire. Debian's package
// prometheus has it; REPLAB_PROMTOOL names another one.
func TestPromtool(t *testing.T) {
	promtool := os.Getenv("REPLAB_PROMTOOL")
	if promtool == "" {
		promtool = "promtool"
	}
	path, err := exec.LookPath(promtool)
	if err != nil {
		if os.Getenv("REPLAB_REQUIRE_PROMTOOL") != "" {
			t.Fatalf("no promtool here: install Debian's package prometheus, or name one in REPLAB_PROMTOOL: %v", err)
		}
		t.Skip("no promtool here")
	}
	for _, args := range [][]string{{"check", "rules", chart + "files/rules.yaml"}, {"test", "rules", "testdata/alerts.yaml"}} {
		if out, err := exec.Command(path, args...).CombinedOutput(); err != nil {
			t.Errorf("promtool %v: %v\n%s", args, err, out)
		}
	}
}
