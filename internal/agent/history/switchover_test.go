package history

import (
	"errors"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/wire"
)

func TestTheLastMayBeUnderWay(t *testing.T) {
	done, open := wire.Switchover{Name: "a", Outcome: wire.SwitchoverDone}, wire.Switchover{Name: "b"}
	for _, all := range [][]wire.Switchover{nil, {done}} {
		if s := (&History{Switchovers: all}).UnderWay(); s != nil {
			t.Errorf("of %+v it is %+v", all, s)
		}
	}
	all := []wire.Switchover{done, open}
	if s := (&History{Switchovers: all}).UnderWay(); s != &all[1] {
		t.Errorf("it is %+v", s)
	}
}

// TestWhatWasAskedForIsAskedForOnce, and nothing else while one is under way.
func TestWhatWasAskedForIsAskedForOnce(t *testing.T) {
	done, open := wire.Switchover{Name: "a", Outcome: wire.SwitchoverDone}, wire.Switchover{Name: "b"}
	for _, c := range []struct {
		all     []wire.Switchover
		name    string
		fresh   bool
		refused bool
	}{
		{nil, "a", true, false},
		{[]wire.Switchover{done}, "a", false, false},
		{[]wire.Switchover{done}, "b", true, false},
		{[]wire.Switchover{done, open}, "a", false, false},
		{[]wire.Switchover{done, open}, "b", false, false},
		{[]wire.Switchover{done, open}, "c", false, true},
	} {
		fresh, err := (&History{Switchovers: c.all}).New(c.name)
		if fresh != c.fresh || errors.Is(err, ErrRefused) != c.refused || err != nil && !c.refused {
			t.Errorf("%s after %+v is new: %v, %v", c.name, c.all, fresh, err)
		}
	}
}

// TestAgesAreToldAndNotKept; a clock that was set back makes none negative.
func TestAgesAreToldAndNotKept(t *testing.T) {
	asked := metav1.NewMicroTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	all := []wire.Switchover{{Name: "a", RequestedAt: asked}}
	for after, want := range map[time.Duration]int64{1500 * time.Millisecond: 1500, -time.Second: 0} {
		if told := (&History{Switchovers: all}).Told(asked.Add(after)).Switchovers; len(told) != 1 || told[0].AgeMilliseconds != want {
			t.Errorf("after %s it is told as %+v, want an age of %d ms", after, told, want)
		}
	}
	if all[0].AgeMilliseconds != 0 {
		t.Errorf("kept is %+v", all[0])
	}
}
