package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/wire"
)

// toldServer tells what a test says.
type toldServer struct {
	look Look
	err  error
}

func (*toldServer) Run(context.Context) {}

func (s *toldServer) Look() (Look, error) { return s.look, s.err }

// anew is a member of three, the first of which takes the writes, and its agents, one after another.
type anew struct {
	t      *testing.T
	dir    string
	self   int
	server *toldServer
	now    time.Time
	member *Member
}

func newAnew(t *testing.T, self int) *anew {
	a := &anew{t: t, dir: t.TempDir(), self: self, now: time.Now()}
	a.server = &toldServer{look: Look{Server: "p1", View: primary(9, "m0", "m1", "m2")}}
	a.start()
	for range 3 {
		a.hear()
		a.think()
	}
	return a
}

// start has an agent begin that knows what the one before it has left.
func (a *anew) start() {
	a.t.Helper()
	var err error
	a.member, err = NewMember(wire.GroupConfig{Members: nodes(3)}, fmt.Sprintf("m%d", a.self), a.dir, a.dir, a.server, nil)
	if err != nil {
		a.t.Fatal(err)
	}
}

// hear has the others answer.
func (a *anew) hear() {
	for i := range 3 {
		if i != a.self {
			a.member.peers.note(i, runs(a.server.look.View), a.now)
		}
	}
}

func (a *anew) think() {
	a.t.Helper()
	a.now = a.now.Add(thinkInterval)
	a.server.look.Asked = a.now
	if err := a.member.think(a.now); err != nil {
		a.t.Fatal(err)
	}
}

// told is how many terms and absences the member tells of, and whether the last ones last.
func (a *anew) told() string {
	s, err := a.member.State()
	if err != nil {
		a.t.Fatal(err)
	}
	text := fmt.Sprintf("%d terms", len(s.Terms))
	if n := len(s.Terms); n > 0 && s.Terms[n-1].To == nil {
		text += ", in one"
	}
	text += fmt.Sprintf(", %d absences", len(s.Absences))
	if n := len(s.Absences); n > 0 && s.Absences[n-1].BackAt == nil {
		text += ", in one"
	}
	return text
}

var errSilent = errors.New("the server has not been asked yet")

// TestAnAgentThatIsStartedAnewBesideAServerThatRunsOn has seen it neither go nor come, nor another one lose the writes.
func TestAnAgentThatIsStartedAnewBesideAServerThatRunsOn(t *testing.T) {
	for self, want := range map[int]string{0: "1 terms, in one, 0 absences", 1: "0 terms, 0 absences"} {
		silent := newAnew(t, self)
		silent.start()
		silent.hear()
		silent.server.err = errSilent
		silent.think()
		silent.think()
		if got := silent.told(); got != want {
			t.Errorf("m%d, before its server has answered: %s, want %s", self, got, want)
		}
		a := newAnew(t, self)
		if got := a.told(); got != want {
			t.Fatalf("m%d begins with %s, want %s", self, got, want)
		}
		a.start()
		for _, err := range []error{errSilent, errSilent, nil, nil} { // it has heard nobody else until then
			a.server.err = err
			a.think()
		}
		if got := a.told(); got != want {
			t.Errorf("m%d, before it has heard the others: %s, want %s", self, got, want)
		}
		a.hear()
		for range 3 {
			a.think()
		}
		if got := a.told(); got != want {
			t.Errorf("m%d tells of %s, want %s", self, got, want)
		}
		a.server.err = errSilent // now it is this agent that has seen it
		a.think()
		if got := a.member.kept.Note(); len(got.Absences) != 1 {
			t.Errorf("m%d, whose server answers no more, tells of %+v", self, got)
		}
	}
}

// TestAnAgentThatIsStartedAnewHasNotHeardWhoTookTheWritesMeanwhile, and tells of no turn of its own before it has.
func TestAnAgentThatIsStartedAnewHasNotHeardWhoTookTheWritesMeanwhile(t *testing.T) {
	a := newAnew(t, 2)
	a.server.look.View = primary(10, "m1", "m2") // m0 is gone
	a.start()
	for range 2 {
		a.think()
		if writes, why := a.member.Writes(); writes || why == "" {
			t.Errorf("it takes the writes: %v (%s)", writes, why)
		}
		a.member.peers.note(0, Answer{Err: errSilent}, a.now)
	}
	a.member.peers.note(1, runs(a.server.look.View), a.now)
	a.think()
	if got, want := a.told(), "0 terms, 0 absences"; got != want || a.member.kept.Note().Writer != "m1" {
		t.Errorf("%s, and the writer is %q", got, a.member.kept.Note().Writer)
	}
}

// TestAnAgentThatIsStartedAnewBesideTheWriter takes the writes again once it has heard that nobody else has them, in the same term.
func TestAnAgentThatIsStartedAnewBesideTheWriter(t *testing.T) {
	a := newAnew(t, 0)
	a.start()
	a.think()
	if writes, why := a.member.Writes(); writes || why == "" {
		t.Errorf("it takes the writes before it has heard the others: %v (%s)", writes, why)
	}
	a.hear()
	a.think()
	if writes, why := a.member.Writes(); !writes || a.told() != "1 terms, in one, 0 absences" {
		t.Errorf("it takes the writes: %v (%s); %s", writes, why, a.told())
	}
}

// TestAnAgentThatIsStartedAnewTellsThatAnotherMemberHadTheWritesMeanwhile: what it has then is a term of its own, after that one's, though that
// one has given the writes back by the time at which all others were heard.
func TestAnAgentThatIsStartedAnewTellsThatAnotherMemberHadTheWritesMeanwhile(t *testing.T) {
	for name, c := range map[string]struct {
		writes bool
		terms  []wire.WriterTerm // of m1
		want   string            // whom each of m0's terms came after, whether it has ended, and whether the group counted the one before
	}{
		"it took over":              {true, []wire.WriterTerm{{After: "m2", To: &metav1.MicroTime{}}, {After: "m0"}}, ` "" true false, "m1" false true`},
		"it had the writes earlier": {false, []wire.WriterTerm{{After: "m0", To: &metav1.MicroTime{}}}, ` "" false false`},
		"it took over from another": {true, []wire.WriterTerm{{After: "m2"}}, ` "" false false`},
		"its agent is new too":      {false, []wire.WriterTerm{{After: "m0"}}, ` "" false false`},
		"its term is not noted yet": {true, []wire.WriterTerm{{After: "m0", To: &metav1.MicroTime{}}}, ` "" false false`},
		"it tells of no term":       {true, nil, ` "" false false`},
	} {
		a := newAnew(t, 0)
		a.start()
		took := runs(a.server.look.View)
		took.State.Group.Writes, took.State.Group.Terms = c.writes, c.terms
		a.member.peers.note(1, took, a.now)
		a.think()
		if writes, _ := a.member.Writes(); writes || a.told() != "1 terms, in one, 0 absences" {
			t.Errorf("%s, before it has heard all others it takes the writes: %v; %s", name, writes, a.told())
		}
		a.member.peers.note(1, runs(a.server.look.View), a.now)
		a.member.peers.note(2, Answer{Err: errSilent}, a.now)
		for range 3 {
			a.think()
		}
		if writes, why := a.member.Writes(); !writes {
			t.Errorf("%s: it takes no writes: %s", name, why)
		}
		var got []string
		for _, term := range a.member.kept.Note().Terms {
			got = append(got, fmt.Sprintf(" %q %t %t", term.After, term.To != nil, term.AfterCounts))
		}
		if got := strings.Join(got, ","); got != c.want {
			t.Errorf("%s: terms%s, want%s", name, got, c.want)
		}
	}
}

// TestAnAgentThatIsStartedAnewTakesTheWritesOver once it has heard that no other can.
func TestAnAgentThatIsStartedAnewTakesTheWritesOver(t *testing.T) {
	a := newAnew(t, 1)
	a.server.look.View = primary(10, "m1", "m2")
	a.start()
	a.member.peers.note(0, Answer{Err: errSilent}, a.now)
	a.member.peers.note(2, runs(a.server.look.View), a.now)
	a.think()
	if writes, why := a.member.Writes(); !writes || a.told() != "1 terms, in one, 0 absences" {
		t.Errorf("it takes the writes: %v (%s); %s", writes, why, a.told())
	}
}

// TestAnAgentThatIsStartedAnewBesideAnotherServer knows that the one before is gone.
func TestAnAgentThatIsStartedAnewBesideAnotherServer(t *testing.T) {
	for _, server := range []string{"", "p2"} {
		a := newAnew(t, 0)
		a.start()
		a.server.look.Server, a.server.err = server, errSilent
		a.think()
		if got, want := a.told(), "1 terms, 1 absences, in one"; got != want {
			t.Errorf("server %q: %s, want %s", server, got, want)
		}
	}
}
