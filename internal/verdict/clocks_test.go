package verdict

import (
	"strings"
	"testing"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/wire"
)

func TestClocksThatDifferAreTold(t *testing.T) {
	for name, c := range map[string]struct {
		least, most int64
		says        bool
	}{
		"a clock known to be near":        {-5_000, 5_000, false},
		"a clock that may be ahead":       {-1_000, 5_001, true},
		"a clock that is behind":          {-90_000, -80_000, true},
		"a clock of a run without faults": {-90_000, -80_000, false},
	} {
		t.Run(name, func(t *testing.T) {
			e, s := sound(), v1alpha1.ReplicationExperimentStatus{}
			e.Witness.Clocks = []wire.NodeClock{{Name: "db-0", LeastAheadMicroseconds: c.least, MostAheadMicroseconds: c.most}}
			if strings.Contains(name, "without faults") {
				e.Faults = nil
			}
			if Judge(e, &s); strings.Contains(strings.Join(s.Reasons, " "), "clock of node db-0") != c.says {
				t.Errorf("the reasons are %q", s.Reasons)
			}
		})
	}
}
