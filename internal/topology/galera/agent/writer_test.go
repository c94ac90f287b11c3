package agent

import (
	"testing"
	"time"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

func TestWriter(t *testing.T) {
	all := []string{"m0", "m1", "m2"}
	synced := func() wire.GroupView { return primary(9, all...) }
	donor := synced()
	donor.Synced = false
	joining := donor
	joining.Serves = false
	resigned := runs(synced())
	resigned.State.Group.Resigned = 3
	moved := primary(9, "m0", "m1")
	young := moved
	young.StableMilliseconds = 400
	dead := Answer{State: &wire.NodeState{Group: &wire.GroupState{}}}
	for name, c := range map[string]struct {
		own      wire.GroupView
		resigned int64
		others   []Answer
		self     int
		before   int
		want     int
	}{
		"the lowest number":                                            {own: synced(), self: 2, others: []Answer{runs(synced()), runs(synced()), {}}, want: 0},
		"itself, when it is the lowest":                                {own: synced(), self: 0, others: []Answer{{}, runs(synced()), runs(synced())}, want: 0},
		"one that is silent is passed over":                            {own: synced(), self: 1, others: []Answer{silent(), {}, runs(synced())}, want: 1},
		"one without a server":                                         {own: synced(), self: 1, others: []Answer{dead, {}, runs(synced())}, want: 1},
		"one that hands its data on":                                   {own: synced(), self: 1, others: []Answer{runs(donor), {}, runs(synced())}, want: 1},
		"but not when all others still join":                           {own: donor, self: 0, others: []Answer{{}, runs(joining), runs(joining)}, want: 0},
		"one that has resigned":                                        {own: synced(), self: 2, others: []Answer{resigned, runs(synced()), {}}, want: 1},
		"but not when it is alone":                                     {own: synced(), resigned: 1, self: 0, others: []Answer{{}, silent(), silent()}, want: 0},
		"of those that have, who did so first":                         {own: synced(), resigned: 4, self: 0, others: []Answer{{}, silent(), resigned}, want: 2},
		"also when that has a lower number":                            {own: synced(), resigned: 2, self: 0, others: []Answer{{}, silent(), resigned}, want: 0},
		"one in another component":                                     {own: synced(), self: 1, others: []Answer{runs(moved), {}, runs(synced())}, want: 1},
		"unless the news of a change has not passed":                   {own: synced(), self: 1, others: []Answer{runs(young), {}, runs(synced())}, want: 0},
		"one that hears nobody takes nothing over":                     {own: synced(), self: 1, others: []Answer{silent(), {}, silent()}, want: 0},
		"nor one of two":                                               {own: primary(9, "m0", "m1"), self: 1, others: []Answer{silent(), {}, silent()}, want: 0},
		"but one of two whose other has no server":                     {own: primary(9, "m0", "m1"), self: 1, others: []Answer{dead, {}, silent()}, want: 1},
		"nor two of whom only one is heard of four":                    {own: primary(9, "m0", "m1", "m2", "m3"), self: 1, others: []Answer{silent(), {}, runs(synced())}, want: 0},
		"one that hears nobody once the group has given the writer up": {own: primary(9, "m1", "m2"), self: 1, others: []Answer{silent(), {}, silent()}, want: 1},
		"it keeps what it has":                                         {own: synced(), self: 1, before: 1, others: []Answer{silent(), {}, silent()}, want: 1},
		"and begins where there was nobody":                            {own: synced(), self: 1, before: -1, others: []Answer{silent(), {}, silent()}, want: 1},
		"alone in the group it takes over":                             {own: primary(9, "m1"), self: 1, others: []Answer{silent(), {}, silent()}, want: 1},
		"a part without a majority has none":                           {own: apart(9, 60000, "m0"), self: 0, others: []Answer{{}, silent(), silent()}, want: -1},
		"nor has one that does not serve":                              {own: joining, self: 0, others: []Answer{{}, silent(), silent()}, want: -1},
	} {
		t.Run(name, func(t *testing.T) {
			own := &wire.GroupState{View: &c.own, Resigned: c.resigned}
			if got := Writer(nodes(3), c.self, c.before, own, c.others); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}

func TestStabilityBeginsAnewWithEveryChange(t *testing.T) {
	var s Stability
	begin := time.Now()
	look := engine.GroupLook{GroupView: apart(9, 0, "m0")}
	after := func(d time.Duration) time.Time { return begin.Add(d) }
	s.Follow("1", look, begin)
	if got := s.Follow("1", look, after(3*time.Second)); got != 3*time.Second {
		t.Errorf("unchanged for %s, want 3s", got)
	}
	applying := look
	applying.Pending = 2
	if got := s.Follow("1", applying, after(4*time.Second)); got != 0 {
		t.Errorf("unchanged for %s while it applies what it has received", got)
	}
	moved := look
	moved.Position = at(11)
	if got := s.Follow("1", moved, after(5*time.Second)); got != 0 {
		t.Errorf("unchanged for %s when its position has moved", got)
	}
	if got := s.Follow("2", moved, after(6*time.Second)); got != 0 {
		t.Errorf("unchanged for %s when its server is another one", got)
	}
	s.Silent()
	if got := s.Follow("2", moved, after(7*time.Second)); got != 0 {
		t.Errorf("unchanged for %s after a silence", got)
	}
}

func TestTermsAndAbsencesAreKept(t *testing.T) {
	dir := t.TempDir()
	m, err := openNote(dir)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	change := func(f func(*note)) {
		t.Helper()
		if err := m.Change(f); err != nil {
			t.Fatal(err)
		}
	}
	change(func(n *note) { n.turn("m1", "m0", "", now, now); n.move(true, now) })
	change(func(n *note) { n.turn("m1", "m1", "", now.Add(time.Second), now.Add(2*time.Second)) })
	if m, err = openNote(dir); err != nil { // as an agent that is started anew
		t.Fatal(err)
	}
	change(func(n *note) { n.turn("m1", "m0", "", now, now.Add(9*time.Second)); n.move(false, now) })
	change(func(n *note) {
		began, ended := n.Absences[0].LeftAt, n.Absences[0].LeftAt
		began.Time = began.Add(time.Second)
		n.Transfers = append(n.Transfers, wire.StateTransfer{Kind: v1alpha1.ResyncIST, BeganAt: began, EndedAt: &ended})
		n.move(true, now.Add(5*time.Second))
	})
	if len(m.Note().Terms) != 1 || m.Note().Terms[0].After != "m0" || m.Note().Terms[0].NoticedAt == nil || m.Note().Terms[0].To == nil {
		t.Errorf("terms %+v, want one after m0 with its end", m.Note().Terms)
	}
	if len(m.Note().Absences) != 1 || m.Note().Absences[0].BackAt == nil || m.Note().Absences[0].Resync == nil || m.Note().Absences[0].Resync.Method != v1alpha1.ResyncIST {
		t.Errorf("absences %+v, want one that ended with a transfer of what was missing", m.Note().Absences)
	}
}
