package follow_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/plugin/follow"
	"replab.dev/internal/plugin/follow/followtest"
	"replab.dev/internal/wire"
)

var update = flag.Bool("update", false, "write the kept texts anew")

// kept compares a text with the one that is kept in a file.
func kept(t *testing.T, file, got string) {
	t.Helper()
	file = filepath.Join("testdata", file)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

func told(e follow.Events, views []follow.View) string {
	var b strings.Builder
	for _, v := range views {
		for _, event := range e.Next(v) {
			b.WriteString(event.Line())
		}
	}
	return b.String()
}

func TestARunInLines(t *testing.T) {
	kept(t, "run.txt", told(follow.Events{Figures: true}, followtest.Run()))
}

func TestWhatWasToldIsNotToldAgain(t *testing.T) {
	e := follow.Events{Figures: true}
	for _, v := range followtest.Run() {
		e.Next(v)
		if again := e.Next(v); len(again) != 0 {
			t.Errorf("at %v: %v", v.Age, again)
		}
	}
}

// TestAnAPIServerThatIsAway is told once, and when it is back.
func TestAnAPIServerThatIsAway(t *testing.T) {
	views := followtest.Run()
	var e follow.Events
	v := views[len(views)/2]
	e.Next(v)
	var got []string
	for _, away := range []string{"", "refused", "no answer within 10 s", "", "refused"} {
		v.Away = away
		var texts []string
		for _, event := range e.Next(v) {
			texts = append(texts, event.Text)
		}
		got = append(got, strings.Join(texts, "; "))
	}
	want := []string{"", "no answer of the API server, while the run goes on: refused", "", "the API server answers again", "no answer of the API server, while the run goes on: refused"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestWhoComesLate is told what stands, and of what is behind no more than when it happened.
func TestWhoComesLate(t *testing.T) {
	got := told(follow.Events{}, followtest.Run()[7:])
	if strings.Count(got, "fault crash") != 2 || !strings.Contains(got, "  +20 s  fault crash: injected") || !strings.Contains(got, "  +30 s  fault crash: released") || strings.Contains(got, "ok/s, 0 failed") {
		t.Error(got)
	}
}

// TestOneThatNobodyWorksOn is told once: somebody would have by then.
func TestOneThatNobodyWorksOn(t *testing.T) {
	v := followtest.Run()[0]
	v.Experiment.Generation = 1
	for age, want := range map[time.Duration]int{29 * time.Second: 0, 31 * time.Second: 1} {
		v.Age = age
		if got := strings.Count(told(follow.Events{}, []follow.View{v, v}), "no operator has looked at it; it may watch other namespaces than default: kubectl replab doctor -n default"); got != want {
			t.Errorf("at %v told %d times", age, got)
		}
	}
	anew := v
	anew.Experiment = v.Experiment.DeepCopy()
	anew.Experiment.Generation, anew.Experiment.Status.ObservedGeneration = 2, 1 // it was changed after an operator had looked at it
	anew.Age = time.Hour
	later := anew
	for after, want := range map[time.Duration]int{29 * time.Second: 0, 31 * time.Second: 1} {
		later.Age = anew.Age + after
		if got := strings.Count(told(follow.Events{}, []follow.View{anew, later}), "no operator has looked at it"); got != want {
			t.Errorf("%v after its change told %d times", after, got)
		}
	}
	v.Age, v.Away = 31*time.Second, "refused"
	if got := told(follow.Events{}, []follow.View{v}); strings.Contains(got, "no operator") {
		t.Errorf("told while nobody knows: %s", got)
	}
}

// TestTimesSinceTheLoadBegan are by the recorder's clock while it answers, and by ours when it does not.
func TestTimesSinceTheLoadBegan(t *testing.T) {
	v := followtest.Run()[6]
	v.Age += time.Hour // our clock is wrong
	if at, ok := v.Loaded(); !ok || at != 23*time.Second {
		t.Errorf("%v, %v", at, ok)
	}
	v.Silent = "refused"
	if at, ok := v.Loaded(); !ok || at != time.Hour+22*time.Second {
		t.Errorf("without the recorder: %v, %v", at, ok)
	}
	if at, ok := followtest.Run()[2].Loaded(); ok {
		t.Errorf("before the load: %v", at)
	}
	for e, want := range map[follow.Event]string{
		{At: 90 * time.Second}:                           "   90 s",
		{At: 19_998 * time.Millisecond, UnderLoad: true}: "  +20 s",
		{At: -time.Second, UnderLoad: true}:              "   -1 s",
	} {
		if got := e.Clock(); got != want {
			t.Errorf("%+v is at %q, want %q", e, got, want)
		}
	}
}

// TestFaultsOfAnotherClock: an agent whose clock is 3 s behind has injected at 20 s, not at 17 s.
func TestFaultsOfAnotherClock(t *testing.T) {
	for _, v := range followtest.Run() {
		for i := range v.Experiment.Status.Faults {
			f := &v.Experiment.Status.Faults[i]
			if f.InjectedTime == nil {
				continue
			}
			f.InjectedTime = ptr.To(metav1.NewMicroTime(f.InjectedTime.Add(-3 * time.Second)))
			f.Clock = &v1alpha1.ClockStatus{LeastAheadMicroseconds: -3_000_100, MostAheadMicroseconds: -2_999_900}
			events := (&follow.Events{}).Next(v)
			if j := slices.IndexFunc(events, func(e follow.Event) bool { return strings.Contains(e.Text, "injected into") }); j < 0 || events[j].At != 20*time.Second {
				t.Errorf("%+v", events)
			}
			return
		}
	}
	t.Fatal("no fault was injected")
}

func TestWordsOfOthersStayInTheirLine(t *testing.T) {
	v := followtest.Run()[1]
	v.Silent = "no\x1b[2J\nanswer"
	for _, line := range (&follow.Events{}).Next(v) {
		if strings.ContainsAny(line.Text, "\x1b\n") {
			t.Errorf("%q", line.Text)
		}
	}
}

// TestTheRecorderIsAskedByWhatIsBehind, whatever the phase is called.
func TestTheRecorderIsAskedByWhatIsBehind(t *testing.T) {
	for i, want := range []bool{false, false, false, true, true, true, true, true, false, false} {
		x := followtest.Run()[i].Experiment
		x.Status.Phase = "another word"
		if got := follow.UnderLoad(x); got != want {
			t.Errorf("moment %d: %v", i, got)
		}
	}
}

func TestSecondsThatPeopleWait(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "0 s", 59 * time.Second: "59 s", 60 * time.Second: "1 min", 62 * time.Second: "1 min 2 s"} {
		if got := follow.Seconds(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}

// TestTheRateIsOfWhatSucceeded, as that of a run is.
func TestTheRateIsOfWhatSucceeded(t *testing.T) {
	v := followtest.Run()[6]
	v.Live.Recent = v.Live.Recent[:22] // in the outage
	if got := strings.Join(v.Figures(), ", "); !strings.HasPrefix(got, "0 ok/s, 6 failed") {
		t.Error(got)
	}
}

// TestALowerBoundIsNotShownAsMore than it is.
func TestALowerBoundIsNotShownAsMore(t *testing.T) {
	v := followtest.Run()[6]
	*v.Live.Recent[22].P99Microseconds = 19_996
	if got := strings.Join(v.Figures(), ", "); !strings.Contains(got, "p99 ≥ 19.99 ms,") {
		t.Error(got)
	}
	v.Live.Recent[22].LowerBounds = nil
	if got := strings.Join(v.Figures(), ", "); !strings.Contains(got, "p99 20 ms,") {
		t.Error(got)
	}
}

// TestAfterTheLastStageThereAreNoFigures, though k6 has not ended.
func TestAfterTheLastStageThereAreNoFigures(t *testing.T) {
	v := followtest.Run()[6]
	for after, want := range map[time.Duration]bool{-time.Second: true, time.Second: false} {
		s := v.Live.Stages[1]
		v.Live.Now.Time = s.StartedAt.Add(time.Duration(s.DurationSeconds)*time.Second + after)
		e := follow.Events{Figures: true}
		if got := slices.ContainsFunc(e.Next(v), func(e follow.Event) bool { return strings.HasPrefix(e.Text, "load: ") }); got != want {
			t.Errorf("%v after the end: figures %t, want %t", after, got, want)
		}
	}
	v.Live.Stages = append(v.Live.Stages, wire.LiveStage{Name: "next", DurationSeconds: 9}) // its first request is awaited, which an outage may hold up
	e := follow.Events{Figures: true}
	if !slices.ContainsFunc(e.Next(v), func(e follow.Event) bool { return strings.HasPrefix(e.Text, "load: ") }) {
		t.Error("between two stages there are no figures")
	}
}

// TestNothingOfAFaultComesBeforeItsInjection, even where the recorder's last answer is older than the status.
func TestNothingOfAFaultComesBeforeItsInjection(t *testing.T) {
	v := followtest.Run()[6]
	v.Live.Now.Time = followtest.Start.Add(19 * time.Second)
	var e follow.Events
	for _, event := range e.Next(v) {
		if strings.HasPrefix(event.Text, "fault crash") && event.At != 20*time.Second {
			t.Errorf("at %v: %s", event.At, event.Text)
		}
	}
}

// TestTimeLeft is by the recorder's clock, whatever ours says.
func TestTimeLeft(t *testing.T) {
	s, ok := followtest.Run()[6].Stage()
	if !ok || s.Name != "open" || s.Number != 2 || s.Left() != 27*time.Second {
		t.Errorf("%+v, %v left", s, s.Left())
	}
	v := followtest.Run()[6]
	v.Live.Now.Time = v.Live.Stages[1].StartedAt.Add(-time.Hour) // that clock was set back
	if s, ok := v.Stage(); !ok || s.Left() != s.Planned() {
		t.Errorf("%v left of %v", s.Left(), s.Planned())
	}
}
