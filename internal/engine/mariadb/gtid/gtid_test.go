package gtid

import "testing"

func state(t *testing.T, text string) State {
	t.Helper()
	s, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestBeyond(t *testing.T) {
	for name, c := range map[string]struct {
		one, other string
		want       int64
	}{
		"none and none":                               {"", "", 0},
		"some and none":                               {"0-1-5", "", 5},
		"none and some":                               {"", "0-1-5", 0},
		"the same":                                    {"0-1-5", "0-1-5", 0},
		"one that is behind":                          {"0-1-5", "0-1-9", 0},
		"one that is ahead":                           {"0-1-9", "0-1-5", 4},
		"an old primary without ghosts":               {"0-1-5", "0-1-5,0-2-9", 0},
		"an old primary with ghosts":                  {"0-1-8", "0-1-5,0-2-9", 3},
		"with more ghosts than the new one wrote":     {"0-1-50", "0-1-5,0-2-6", 45},
		"the new one beside the old":                  {"0-1-5,0-2-9", "0-1-8", 4},
		"a fork in a reign that came back":            {"0-1-30,0-2-20", "0-1-25,0-2-20,0-3-40", 5},
		"a fork before servers that only one has":     {"0-1-10,0-3-12,0-1-15", "0-1-10,0-2-30", 5},
		"two domains":                                 {"0-1-8,1-1-4", "0-1-5,0-2-9,1-1-2", 5},
		"a domain that the other has not":             {"0-1-8,7-1-4", "0-1-8", 4},
		"nothing in common":                           {"0-1-8", "0-2-9", 8},
		"one that names the last transaction only":    {"0-2-9", "0-1-5,0-2-9", 0},
		"the same numbers by another server's hand":   {"0-1-9", "0-1-5,0-2-9", 4},
		"a copy of the other, under another identity": {"0-1-5,0-2-9", "0-1-5,0-2-9,0-4-12", 0},
	} {
		if got := state(t, c.one).Beyond(state(t, c.other)); got != c.want {
			t.Errorf("%s: %d beyond, want %d", name, got, c.want)
		}
	}
}

func TestUnionLastAndNames(t *testing.T) {
	u := state(t, "0-1-5,1-1-3").Union(state(t, "0-2-9,0-1-4"))
	if got := u.String(); got != "0-1-5,0-2-9,1-1-3" {
		t.Errorf("the union is %s", got)
	}
	if got := u.Position(); got != "0-2-9,1-1-3" {
		t.Errorf("its position is %s", got)
	}
	if u.Last(0) != 9 || u.Last(1) != 3 || u.Last(2) != 0 {
		t.Error("the last numbers of the domains")
	}
	if !u.Has(0, 1, 5) || u.Has(0, 1, 6) || !u.Has(0, 2, 6) || u.Has(2, 1, 1) {
		t.Error("a transaction that is there, or is not, is told otherwise")
	}
	if !u.MadeBy(2) || u.MadeBy(3) {
		t.Error("who made some")
	}
	if again := state(t, u.String()); again.String() != u.String() {
		t.Errorf("read again it is %s", again)
	}
}

func TestWhatIsNoGTIDIsRefused(t *testing.T) {
	for _, text := range []string{"0-1", "0-1-x", "0-1-5-6", "-1-1-1", "0-1-5,", "4294967296-1-1"} {
		if s, err := Parse(text); err == nil {
			t.Errorf("%q was read as %s", text, s)
		}
	}
}
