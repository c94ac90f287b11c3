package recorder

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"replab.dev/internal/engine"
	"replab.dev/internal/recorder/counters"
	"replab.dev/internal/wire"
)

// playedMember counts one certification failure and 100 ms of flow control each second. It answers nothing while it hangs.
type playedMember struct {
	began time.Time
	hangs bool
}

func (m *playedMember) Counts(ctx context.Context) (engine.GroupCounts, error) {
	if m.hangs {
		<-ctx.Done()
		return engine.GroupCounts{}, ctx.Err()
	}
	up := int64(time.Since(m.began).Seconds())
	return engine.GroupCounts{CertificationFailures: up, FlowControlPaused: time.Duration(up) * 100 * time.Millisecond, UpSeconds: up}, nil
}

func (*playedMember) Close() error { return nil }

func TestMembersAreSampledEachByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, load := time.Now().Add(-time.Minute), false
		g := &group{
			nodes: []string{"a", "b"}, counters: []Counter[engine.GroupCounts]{&playedMember{began: began}, &playedMember{hangs: true}},
			now: time.Now, counting: func() bool { return load }, wrote: func() map[string]time.Time { return nil },
			often: counters.Interval, sum: &counters.Group{},
		}
		watch := func(d time.Duration) {
			ctx, cancel := context.WithTimeout(t.Context(), d)
			defer cancel()
			g.watch(ctx)
		}
		watch(5500 * time.Millisecond)
		g.start(time.Now())
		load = true
		watch(10500 * time.Millisecond)
		load = false
		g.sample(t.Context())
		got := g.result().Nodes
		want := wire.NodeGroup{
			Name: "a", Samples: 11, CertificationFailures: 11, CoveredMicroseconds: 9_000_000, FlowControlPausedMicroseconds: 900_000,
		}
		if len(got) != 2 {
			t.Fatalf("%+v, want what each member counted", got)
		}
		got[0].ReceiveQueueMax, got[0].ReceiveQueueMaxAtMost, got[0].ReceiveQueueMeanThousandths = nil, nil, nil
		if got[0] != want {
			t.Errorf("%+v, want %+v", got[0], want)
		}
		if want := (wire.NodeGroup{Name: "b", UncountedMicroseconds: 10_500_000, UncoveredMicroseconds: 9_000_000}); got[1] != want {
			t.Errorf("the one that never answers: %+v, want %+v", got[1], want)
		}
	})
}

func TestAnEngineWithoutGroupsCannotCountInOne(t *testing.T) {
	b := newBench(t, answering(201))
	b.cfg.CountGroup = true
	if _, err := open(t.Context(), b.cfg, b.env); err == nil {
		t.Error("a recorder opened that cannot count what it is to")
	}
	failing := Counts[engine.GroupCounts](func(string, string) (*playedMember, error) { return nil, errors.New("no") })
	if c, err := failing("", ""); c != nil || err == nil {
		t.Errorf("%v, %v", c, err)
	}
}
