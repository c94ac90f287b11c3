package verdict

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/verdict/evidencetest"
	"replab.dev/internal/wire"
)

func TestTheStatusTellsOfLatePacketsByStage(t *testing.T) {
	e := evidencetest.Sweep()
	e.Recorder.Links[1].LatePackets, e.Recorder.Links[1].HeldUpPackets = 7, 2
	e.Recorder.Links[1].Delays = []wire.DelayCounts{{DelayMicroseconds: 10_000, Packets: 1000, LateMicroseconds: 250_001}}
	e.Recorder.Links[2].UncoveredMicroseconds = 2_001_000 // not known
	s := v1alpha1.ReplicationExperimentStatus{Distance: e.Distance}
	fill(e, &s)
	want := []v1alpha1.LinkedStageStatus{
		{Name: "warm", Discarded: true, DelayedPackets: 5_000},
		{Name: "steady", DelayedPackets: 1_000, LatePackets: 7, HeldUpPackets: 2, MeanDelayMicroseconds: ptr.To[int64](10_000), MeanLateMicroseconds: ptr.To[int64](251)},
	}
	if diff := cmp.Diff(want, s.Distance.Nodes[0].Stages); diff != "" || s.Distance.Nodes[1].Stages != nil {
		t.Errorf("(-want +got):\n%s\nand of a node without links %+v", diff, s.Distance.Nodes[1].Stages)
	}
}
