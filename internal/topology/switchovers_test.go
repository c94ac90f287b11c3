package topology

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/wire"
)

// TestSwitchoversAreToldInTheirOrder, whichever node tells of them; what one waits for is said of those alone that are under way.
func TestSwitchoversAreToldInTheirOrder(t *testing.T) {
	at := func(second int64) metav1.MicroTime { return metav1.NewMicroTime(time.Unix(second, 0).UTC()) }
	got := StateOf([]Told{
		{Node: "a", History: &wire.NodeHistory{Switchovers: []wire.Switchover{
			{Name: "one", From: "a", RequestedAt: at(1), To: "b", Outcome: wire.SwitchoverDone}, {Name: "four", From: "a", RequestedAt: at(4)},
		}}},
		{Node: "b", History: &wire.NodeHistory{Switchovers: []wire.Switchover{
			{Name: "two", From: "b", RequestedAt: at(2), Outcome: wire.SwitchoverFailed, Why: "nobody can"}, {Name: "three", From: "b", RequestedAt: at(3), Why: "it says so itself"},
		}}},
		{Node: "c"},
	}, "an answer").Switchovers
	want := []Switchover{
		{Name: "one", Clock: "a", RequestedAt: at(1), OldWriter: "a", NewWriter: "b", Outcome: SwitchoverDone},
		{Name: "two", Clock: "b", RequestedAt: at(2), OldWriter: "b", Outcome: SwitchoverFailed, Why: "nobody can"},
		{Name: "three", Clock: "b", RequestedAt: at(3), OldWriter: "b", Why: "it says so itself"},
		{Name: "four", Clock: "a", RequestedAt: at(4), OldWriter: "a", Why: "an answer"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("switchovers (-want +got):\n%s", d)
	}
}
