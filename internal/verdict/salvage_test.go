package verdict

import (
	"strings"
	"testing"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/wire"
)

func TestWhatIsSalvagedOfARunThatWasEnded(t *testing.T) {
	seen := func(failed string) *wire.RecorderResults {
		return &wire.RecorderResults{
			RecorderState: wire.RecorderState{Failed: failed},
			Load:          wire.StageResult{Requests: 100}, Writes: wire.LedgerCounts{Sent: 50, Acknowledged: 50},
		}
	}
	for _, c := range []struct {
		name     string
		recorder *wire.RecorderResults
		stated   bool
		note     string
	}{
		{"what the recorder saw", seen(""), true, "the time until the run was ended"},
		{"of a recorder that failed nothing", seen("its volume is full"), false, "because the recorder failed"},
		{"without results nothing", nil, false, "left no results"},
	} {
		t.Run(c.name, func(t *testing.T) {
			status := v1alpha1.ReplicationExperimentStatus{Verdict: v1alpha1.VerdictInconclusive, Reasons: []string{"it was ended"}}
			spec := v1alpha1.ReplicationExperimentSpec{Goals: []v1alpha1.Goal{{Metric: "lostWrites"}}}
			Salvage(evidence.Run{Spec: spec, Recorder: c.recorder}, &status)
			if (status.Load != nil) != c.stated || (status.Writes != nil) != c.stated {
				t.Errorf("load %+v, writes %+v", status.Load, status.Writes)
			}
			if status.Verdict != v1alpha1.VerdictInconclusive || len(status.Goals) > 0 || status.Reasons[0] != "it was ended" {
				t.Errorf("verdict %s, goals %v, reasons %q", status.Verdict, status.Goals, status.Reasons)
			}
			if last := status.Notes[len(status.Notes)-1]; !strings.Contains(last, c.note) {
				t.Errorf("it says %q, want %q", last, c.note)
			}
		})
	}
}
