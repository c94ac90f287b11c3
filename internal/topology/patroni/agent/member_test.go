package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

func TestWhatIsToldOfAWriter(t *testing.T) {
	m := leading(t, t.TempDir(), &fakeManager{})
	m.poller.settings = answer[engine.ManagerSettings]{value: engine.ManagerSettings{Words: map[string]string{"ttl": "20"}}}
	last := m.poller.last()
	m.hears(last.node.value, last.cluster.value) // what was told may be old news by now, where the disk is slow
	got := m.State()
	if len(got.Terms) != 1 || got.Terms[0].To != nil || len(got.Absences) != 0 {
		t.Errorf("terms %+v and absences %+v", got.Terms, got.Absences)
	}
	got.Terms = nil
	want := wire.ManagerState{
		Answers: true, Holds: true, NodeHistory: wire.NodeHistory{Writes: true, Leader: self}, Waits: true, State: "running", Role: "primary", Members: 3,
		Config: map[string]string{"ttl": "20", "version": "4.0.7"}, Timeline: 3, Written: 100,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("state (-want +got):\n%s", diff)
	}
}

func TestWhyANodeTakesNoWrites(t *testing.T) {
	following := &engine.ServerPosition{Streaming: true, Timeline: 3, Received: 9, Applied: 8}
	for name, c := range map[string]struct {
		look   Look
		leader string
		want   string
	}{
		"no server":                  {Look{Why: "no server process exists"}, self, "no server process exists"},
		"a leader that is no longer": {Look{Server: "p1", Position: &engine.ServerPosition{Writable: true, Timeline: 3}}, "", "does not hold the leader lock"},
		"a standby":                  {Look{Server: "p1", Position: following}, "a-db-0", "a-db-0 holds the lock"},
		"while there is none":        {Look{Server: "p1", Position: following}, "", "no node holds the lock"},
		"before it is promoted":      {Look{Server: "p1", Position: following}, self, "not been promoted yet"},
	} {
		m := leading(t, t.TempDir(), &fakeManager{})
		c.look.At = time.Now()
		m.server = &fakeServer{c.look}
		m.hears(engine.ManagerNode{State: "running"}, engine.ManagerCluster{Leader: c.leader})
		if err := m.think(time.Now()); err != nil {
			t.Fatal(err)
		}
		if s := m.State(); s.Writes || !strings.Contains(s.Why, c.want) || s.Streaming != (c.look.Position == following) {
			t.Errorf("%s: %+v, want it to say %q", name, s, c.want)
		}
	}
}

func TestALockStandsAsLongAsItWouldWithoutItsManager(t *testing.T) {
	now := at(100)
	l := Look{At: now, Asked: at(99.9), Server: "p1", Position: &engine.ServerPosition{Writable: true}}
	for name, c := range map[string]struct {
		answered float64
		ttl      time.Duration
		want     bool
	}{
		"it answers": {99.5, 20 * time.Second, true},
		"it has not answered for less than its lock lasts": {81, 20 * time.Second, true},
		"for longer":                     {79, 20 * time.Second, false},
		"how long it lasts is not known": {98, 0, false},
	} {
		h := answers{node: answer[engine.ManagerNode]{value: engine.ManagerNode{Holds: true}, asked: at(c.answered), at: at(c.answered)}}
		h.settings.value.TTL = c.ttl
		if got := h.observation(l, now); got.writes() != c.want || got.Asked != l.Asked {
			t.Errorf("%s: it writes is %v, as it was asked at %s", name, got.writes(), got.Asked)
		}
	}
}

// TestALeaderIsToldWhileTheManagerNamesIt: one that is cut off from its store answers of its node, and not of the others. That it was named is
// kept all the same, for whom a term of this node would come after.
func TestALeaderIsToldWhileTheManagerNamesIt(t *testing.T) {
	for answered, want := range map[float64]string{100: "a-db-0", 98: "a-db-0", 97.9: "", 1: ""} {
		h := answers{cluster: answer[engine.ManagerCluster]{value: engine.ManagerCluster{Leader: "a-db-0"}, asked: at(answered), at: at(answered)}}
		if got := h.leader(at(100)); got != want {
			t.Errorf("of an answer at %g s it tells %q at 100 s, want %q", answered, got, want)
		}
	}
	if got := (answers{}).leader(time.Time{}); got != "" {
		t.Errorf("it tells %q, and has heard nothing", got)
	}
	m := leading(t, t.TempDir(), &fakeManager{})
	m.server = &fakeServer{Look{At: time.Now(), Server: "p1", Position: &engine.ServerPosition{Streaming: true, Timeline: 3, Received: 9, Applied: 8}}}
	m.hears(engine.ManagerNode{State: "running"}, engine.ManagerCluster{Leader: "a-db-0", LeaderTimeline: 4})
	m.poller.mu.Lock()
	m.poller.cluster.asked = m.poller.cluster.asked.Add(-10 * time.Second)
	m.poller.cluster.at = m.poller.cluster.asked
	m.poller.cluster.err = errors.New("context deadline exceeded")
	m.poller.mu.Unlock()
	if err := m.think(time.Now()); err != nil {
		t.Fatal(err)
	}
	if got := m.State(); got.Leader != "" {
		t.Errorf("it names %q, of which its manager has said nothing for 10 s", got.Leader)
	}
	if got := m.kept.Note().Writer; got != "a-db-0" {
		t.Errorf("a term would come after %q", got)
	}
}

func TestWhatWasSeenOutlivesTheAgent(t *testing.T) {
	dir := t.TempDir()
	before := leading(t, dir, &fakeManager{}).State()
	m := leading(t, dir, &fakeManager{})
	if got := m.State(); len(got.Terms) != 1 || !got.Terms[0].From.Time.Equal(before.Terms[0].From.Truncate(time.Microsecond)) {
		t.Errorf("terms %+v, and before %+v", got.Terms, before.Terms)
	}
	m.server = &fakeServer{Look{At: time.Now(), Why: "no server process exists"}}
	if err := m.think(time.Now()); err != nil {
		t.Fatal(err)
	}
	m, err := New(wire.ManagerConfig{}, self, dir, dir, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := m.State(); got.Terms[0].To == nil || len(got.Absences) != 1 {
		t.Errorf("after its end: terms %+v, absences %+v", got.Terms, got.Absences)
	}
	if err := os.WriteFile(filepath.Join(dir, "manager.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := New(wire.ManagerConfig{}, self, dir, dir, nil, nil); err == nil {
		t.Error("what cannot be read is passed over")
	}
}

// TestAStandbyThatStaysOneIsWrittenOnce: each write reaches the disk, many times a second.
func TestAStandbyThatStaysOneIsWrittenOnce(t *testing.T) {
	dir := t.TempDir()
	m, err := New(wire.ManagerConfig{}, self, dir, dir, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var first os.FileInfo
	for i := range 3 {
		s := streaming(float64(i), "p1", 1, "a-db-0")
		m.server = &fakeServer{Look{At: s.At, Asked: s.At, Server: s.Server, Position: s.Position}}
		if err := m.think(s.At); err != nil {
			t.Fatal(err)
		}
		now, err := os.Stat(filepath.Join(dir, "manager.json"))
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = now
		}
		if !os.SameFile(first, now) {
			t.Errorf("look %d was written", i)
		}
	}
}

// TestWhatCannotBeKeptIsNotTold: an agent after this one would know nothing of it.
func TestWhatCannotBeKeptIsNotTold(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Mkdir(dir, 0o700))
	m := leading(t, dir, &fakeManager{})
	m.server = &fakeServer{Look{At: time.Now(), Why: "no server process exists"}}
	must(os.RemoveAll(dir))
	if err := m.think(time.Now()); err == nil {
		t.Error("it was kept nowhere")
	}
	if got := m.State(); got.Terms[0].To != nil || len(got.Absences) > 0 {
		t.Errorf("terms %+v, absences %+v", got.Terms, got.Absences)
	}
	must(os.Mkdir(dir, 0o700))
	must(m.think(time.Now()))
	if got := m.State(); got.Terms[0].To == nil || len(got.Absences) != 1 {
		t.Errorf("once it is kept: terms %+v, absences %+v", got.Terms, got.Absences)
	}
}

func TestLinesThatOthersAppend(t *testing.T) {
	dir := t.TempDir()
	l := promotionsIn(dir)
	read := func(want ...float64) {
		t.Helper()
		got, err := l.read()
		if err != nil || len(got) != len(want) {
			t.Fatalf("%v, %v; want %v", got, err, want)
		}
		for i := range want {
			if !got[i].Equal(at(want[i])) {
				t.Errorf("line %d is %v, want %v", i, got[i], at(want[i]))
			}
		}
	}
	file := filepath.Join(dir, wire.PromotionsFile)
	write := func(text string) {
		t.Helper()
		f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = f.WriteString(text)
			_ = f.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	read()
	first := began.Unix()
	write(fmt.Sprintf("%d.500000000\n%d", first, first+3))
	read(0.5)
	write("\n")
	read(0.5, 3)
	read(0.5, 3) // as it was
	write(fmt.Sprintf("tomorrow\n%d.25\n%d\n", first+4, first+5))
	if got, err := l.read(); err == nil || len(got) != 3 {
		t.Errorf("with lines that are none: %v, %v", got, err)
	}

	rewinds := rewindsIn(dir)
	if err := os.WriteFile(rewinds.file, []byte(`{"beganAt":"2026-11-22T12:00:01.000000Z","endedAt":"2026-11-22T12:00:03.000000Z","inspectedMilliseconds":900,"exitCode":1}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := rewinds.read()
	if err != nil || len(got) != 1 || !got[0].BeganAt.Time.Equal(at(1)) || !got[0].EndedAt.Time.Equal(at(3)) || got[0].InspectedMilliseconds != 900 || got[0].ExitCode != 1 {
		t.Errorf("rewinds %+v, %v", got, err)
	}
}

func TestManagersArePausedOnceAllIsInPlace(t *testing.T) {
	now := at(100)
	good := func() (Observation, answers) {
		h := answers{
			node:    answer[engine.ManagerNode]{value: engine.ManagerNode{Holds: true}, asked: now, at: now},
			cluster: answer[engine.ManagerCluster]{value: engine.ManagerCluster{Leader: self, Running: 3, Streaming: 2, Synchronous: 2}, asked: now, at: now},
		}
		h.settings.value = engine.ManagerSettings{Words: map[string]string{}, Synchronous: 2}
		return writer(100, "p1", 1), h
	}
	for name, spoil := range map[string]func(*Observation, *answers){
		"":                            func(*Observation, *answers) {},
		"it takes no writes":          func(s *Observation, _ *answers) { s.Holds = false },
		"a standby does not stream":   func(_ *Observation, h *answers) { h.cluster.value.Streaming = 1 },
		"commits do not wait for all": func(_ *Observation, h *answers) { h.cluster.value.Synchronous = 1 },
		"the settings are not known":  func(_ *Observation, h *answers) { h.settings.value = engine.ManagerSettings{} },
		"they are paused":             func(_ *Observation, h *answers) { h.node.value.Paused = true },
		"old news":                    func(_ *Observation, h *answers) { h.node.at = at(90) },
		"another one leads":           func(_ *Observation, h *answers) { h.cluster.value.Leader = "a-db-0" },
	} {
		s, h := good()
		spoil(&s, &h)
		if got := mayPause(wire.ManagerConfig{PauseAt: 3}, self, s, h, now); got != (name == "") {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// unread is a server whose processes cannot be read.
type unread struct{}

func (unread) Run(context.Context) {}

func (unread) Look() (Look, error) { return Look{}, errors.New("no route") }

// TestWhyNothingIsKnownOfAServerIsTold before it has ever answered, and nothing else is.
func TestWhyNothingIsKnownOfAServerIsTold(t *testing.T) {
	dir := t.TempDir()
	before := leading(t, dir, &fakeManager{}).State()
	m, err := New(wire.ManagerConfig{}, self, dir, dir, unread{}, &fakeManager{})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.think(time.Now()); err == nil {
		t.Error("it is taken for known")
	}
	if got := m.State(); got.Why != "no route" || len(got.Terms) != len(before.Terms) || got.Terms[0].To != nil || len(got.Absences) != 0 {
		t.Errorf("%+v", got)
	}
}
