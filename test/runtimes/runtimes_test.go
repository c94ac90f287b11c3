package runtimes

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"replab.dev/internal/report/progress"
)

func TestWhereAddsTheRunsUp(t *testing.T) {
	got := Where([]Times{
		{"single", []progress.Step{{Name: "Accepted", Seconds: 0}, {Name: "Deployed", Seconds: 12}, {Name: "Judged", Seconds: 1}, {Name: "removed", Seconds: 3}}},
		{"semisync", []progress.Step{{Name: "Accepted", Seconds: 0}, {Name: "Deployed", Seconds: 13}, {Name: "FaultsInjected", Seconds: 20}, {Name: "Judged", Seconds: 0}}},
	})
	want := `          Deployed  FaultsInjected  Judged  removed    all
single          12                       1        3     16
semisync        13              20       0              33
all             25              20       1        3     49
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
