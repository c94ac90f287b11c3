package hold

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
		holds, err := Standing(dir, at)
		must(t, err)
		for _, h := range holds {
			names += h.Fault + " "
		}
		return names
	}
	if got := standing(now); got != "" {
		t.Fatalf("without a folder: %q", got)
	}
	must(t, Put(dir, Hold{Fault: "a", Until: &soon}))
	must(t, Put(dir, Hold{Fault: "b"}))
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
	must(t, Put(dir, Hold{Fault: "a"}))
	must(t, Remove(dir, "b"))
	must(t, Remove(dir, "b")) // again: there is none
	if got := standing(soon); got != "a " {
		t.Errorf("after one was prolonged and one removed: %q", got)
	}
}

func TestAHoldThatCannotBeReadIsNotTakenForNone(t *testing.T) {
	dir := t.TempDir()
	must(t, Put(dir, Hold{Fault: "a"}))
	must(t, os.WriteFile(in(dir).File("a").Path, []byte("{"), 0o600))
	if _, err := Standing(dir, time.Now()); err == nil {
		t.Fatal("no error")
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
