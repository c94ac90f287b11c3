package director

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"replab.dev/internal/director/publish"
	"replab.dev/internal/wire"
)

// stage shows a director a scene and notes what it does.
type stage struct {
	scene    *scene
	change   func(look int, s *scene)
	looks    int
	acts     []act
	failing  bool // acts fail
	renewed  string
	restarts int
}

func (s *stage) observe(context.Context, wire.DirectorState) view {
	s.looks++
	if s.change != nil {
		s.change(s.looks, s.scene)
	}
	v := s.scene.view
	v.Now = time.Now()
	return v
}

func (s *stage) do(_ context.Context, a act) error {
	s.acts = append(s.acts, a)
	if s.failing {
		return errors.New("it failed")
	}
	return nil
}

func (s *stage) renewFor(name string) { s.renewed = name }
func (s *stage) forgetClone(string)   {}
func (s *stage) restart()             { s.restarts++ }

// play runs a director on the stage for a virtual time.
func (s *stage) play(t *testing.T, st store, d time.Duration) *Director {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	director := newDirector(s.scene.cfg, s, st, func(wire.DirectorState) {})
	if err := director.Run(ctx); err != nil {
		t.Fatal(err)
	}
	return director
}

func stored(s *scene) *memoryStore { return &memoryStore{text: document(s.state)} }

func TestProgressIsStoredOnceInAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{scene: deployed(), change: func(look int, s *scene) {
			s.see("c", func(o *observation) { o.Executed = transactions(int64(100 - look%2)) })
		}}
		st := stored(s.scene)
		s.play(t, st, time.Minute)
		if s.looks < 250 || s.looks > 310 {
			t.Errorf("%d looks in a minute, one each 200 ms was asked for", s.looks)
		}
		if writes := len(st.log); writes < 20 || writes > 65 {
			t.Errorf("%d writes in a minute of replicas that fall back and catch up with every look", writes)
		}
	})
}

func TestReplicaThatFallsBackIsStoredAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{scene: deployed(), change: func(look int, s *scene) {
			if look == 4 { // within softInterval of the first write
				s.see("c", func(o *observation) { o.Executed = transactions(99) })
			}
		}}
		st := stored(s.scene)
		s.play(t, st, time.Second)
		if n := len(st.log); n != 2 || !st.log[0].Nodes[2].CaughtUp || st.log[1].Nodes[2].CaughtUp {
			t.Errorf("%d writes; the stored state says caught up: %v", n, st.log[n-1].Nodes[2].CaughtUp)
		}
	})
}

func TestNothingIsStoredAtPeace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{scene: deployed()}
		st := stored(s.scene)
		s.play(t, st, time.Minute)
		if len(st.log) > 1 {
			t.Errorf("%d writes of a state that does not change", len(st.log))
		}
		if s.renewed != "a" || len(s.acts) > 0 {
			t.Errorf("renews for %q, did %v", s.renewed, s.acts)
		}
	})
}

// brokenStore loads but does not save.
type brokenStore struct {
	*memoryStore
	err   error
	tries int
}

func (b *brokenStore) Save(context.Context, string) error { b.tries++; return b.err }

func TestIntentThatCannotBeStoredIsNotActedUpon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{scene: deployed().kill("a", 3)}
		st := &brokenStore{memoryStore: stored(s.scene), err: errors.New("the API server is away")}
		d := s.play(t, st, 10*time.Second)
		if len(s.acts) > 0 || s.renewed != "" || d.State().Primary != "a" {
			t.Errorf("did %v, renews for %q, primary %s", s.acts, s.renewed, d.State().Primary)
		}
		if st.tries < 10 {
			t.Errorf("tried to store it %d times in 10 s", st.tries)
		}
	})
}

func TestWhatIsNoIntentWaitsForNoStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{scene: deployed().see("a", func(o *observation) { o.Writable = false })}
		st := &brokenStore{memoryStore: stored(s.scene), err: errors.New("the API server is away")}
		s.play(t, st, 5*time.Second)
		if len(s.acts) == 0 || s.acts[0] != (act{Kind: actOpen, Node: "a"}) {
			t.Errorf("did %v, want the primary opened again", s.acts)
		}
		if st.tries > 10 {
			t.Errorf("an API server that is away was asked %d times in 5 s", st.tries)
		}
	})
}

func TestStateOfAnotherIsTakenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{scene: deployed().kill("a", 3)}
		st := &brokenStore{memoryStore: stored(s.scene), err: fmt.Errorf("ConfigMap: %w", publish.ErrChanged)}
		s.change = func(look int, _ *scene) {
			if look == 1 {
				st.text = document(failedOver().state)
			}
		}
		d := s.play(t, st, 2*time.Second)
		if d.State().Epoch != 2 || d.State().Primary != "b" || s.restarts == 0 {
			t.Errorf("state is %s after %d restarts", document(d.State()), s.restarts)
		}
	})
}

func TestActThatFailsIsTriedAgainWithoutHaste(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{failing: true, scene: deployed().see("c", func(o *observation) { o.SQLRunning = false })}
		s.play(t, stored(s.scene), 10*time.Second)
		if n := len(s.acts); n < 10 || n > 50 {
			t.Errorf("tried %d times in 10 s", n)
		}
	})
}

func TestActWithoutEffectIsRepeatedWithoutHaste(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{scene: deployed().see("c", func(o *observation) { o.SQLRunning = false })}
		s.play(t, stored(s.scene), 10*time.Second)
		if n := len(s.acts); n < 10 || n > 60 {
			t.Errorf("repeated %d times in 10 s", n)
		}
	})
}
