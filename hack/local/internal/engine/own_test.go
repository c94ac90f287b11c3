//go:build linux

package engine

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"replab.dev/hack/local/internal/layout"
	"replab.dev/hack/local/internal/say"
)

func TestExplainNamesForwardingForOthers(t *testing.T) {
	var out bytes.Buffer
	say.Out = &out
	t.Cleanup(func() { say.Out = os.Stdout })
	explain(layout.Layout{Dir: t.TempDir()})
	for _, want := range []string{"forwards packets between its networks, also for other machines", "make cluster-down"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing from:\n%s", want, out.String())
		}
	}
}
