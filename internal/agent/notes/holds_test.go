package notes

import (
	"os"
	"testing"
	"time"
)

func TestAHoldStandsUntilItsEndOrRemoval(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	soon := now.Add(time.Minute)
	standing := func(at time.Time) (names string) {
		t.Helper()
		standing, err := StandingHolds(dir, at)
		must(t, err)
		for _, h := range standing {
			names += h.Fault + " "
		}
		return names
	}
	if got := standing(now); got != "" {
		t.Fatalf("without a folder: %q", got)
	}
	must(t, PutHold(dir, Hold{Fault: "a", Until: &soon}))
	must(t, PutHold(dir, Hold{Fault: "b"}))
	for _, c := range []struct {
		name string
		at   time.Time
		want string
	}{
		{"both stand at first", now, "a b "},
		{"both stand right before the end of one", soon.Add(-1), "a b "},
		{"one is over at its end", soon, "b "},
	} {
		if got := standing(c.at); got != c.want {
			t.Errorf("%s: %q", c.name, got)
		}
	}
	must(t, PutHold(dir, Hold{Fault: "a"}))
	must(t, RemoveHold(dir, "b"))
	must(t, RemoveHold(dir, "b")) // again: there is none
	if got := standing(soon); got != "a " {
		t.Errorf("after one was prolonged and one removed: %q", got)
	}
}

func TestAHoldThatCannotBeReadIsNotTakenForNone(t *testing.T) {
	dir := t.TempDir()
	must(t, PutHold(dir, Hold{Fault: "a"}))
	must(t, os.WriteFile(holds(dir).File("a").Path, []byte("{"), 0o600))
	if _, err := StandingHolds(dir, time.Now()); err == nil {
		t.Fatal("no error")
	}
}
