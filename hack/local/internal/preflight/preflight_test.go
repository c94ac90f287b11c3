package preflight

import (
	"slices"
	"testing"
)

func TestMissingFrom(t *testing.T) {
	const answer = "runc installed\ncontainerd config-files\n"
	got := missingFrom([]string{"runc", "containerd", "socat"}, answer)
	if !slices.Equal(got, []string{"containerd", "socat"}) {
		t.Errorf("got %q: one that was removed or was never known is missing", got)
	}
}
