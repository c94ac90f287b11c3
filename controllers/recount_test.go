package controllers

import (
	"strings"
	"testing"

	"replab.dev/test/experiment"
)

// TestANodeThatIsRebuiltIsComparedOnceMore, and none else is.
func TestANodeThatIsRebuiltIsComparedOnceMore(t *testing.T) {
	const faults = "  faults: [{name: crash, atSeconds: 15, target: Primary, action: Kill, holdSeconds: 10}]\n"
	for name, text := range map[string]string{"rebuilt": semisync, "without a fault": strings.Replace(semisync, faults, "", 1)} {
		t.Run(name, func(t *testing.T) {
			x := experiment.Parse(t, []byte(text))
			w := newWorld(t, x)
			found := play(t, w, w, x)
			made := strings.Contains(strings.Join(w.log, "\n"), "create *v1.Job/semisync-recount")
			rows := found.Status.Nodes[0].RejoinedRows
			if again := name == "rebuilt"; made != again || again && (rows == nil || *rows != 11_000) || !again && rows != nil {
				t.Errorf("compared again: %v, rows %v: %q", made, rows, found.Status.Reasons)
			}
		})
	}
}
