package family

import (
	"maps"
	"testing"
	"time"
)

func TestCountersOfAGroupsMember(t *testing.T) {
	whole := map[string]string{
		certificationFailures: "3", forcedAborts: "4", flowControlPaused: "5000000", receiveQueue: "6", receiveQueueMax: "7", uptime: "8", deadlocks: "9",
	}
	got, err := groupCounts(whole)
	if err != nil || got.CertificationFailures != 3 || got.ForcedAborts != 4 || got.FlowControlPaused != 5*time.Millisecond ||
		got.ReceiveQueue != 6 || got.ReceiveQueueMax != 7 || got.UpSeconds != 8 || got.Deadlocks == nil || *got.Deadlocks != 9 {
		t.Errorf("%+v, %v", got, err)
	}
	for name := range whole {
		lacking := maps.Clone(whole)
		delete(lacking, name)
		got, err := groupCounts(lacking)
		if name == deadlocks {
			if err != nil || got.Deadlocks != nil {
				t.Errorf("without %s: %+v, %v, want all others and no deadlocks", name, got, err)
			}
		} else if err == nil {
			t.Errorf("without %s: %+v, want an error: what is not known is not 0", name, got)
		}
	}
}
