package mysql

import (
	"testing"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/mysql/gtid"
)

func TestPositionsAreComparedAsGTIDSets(t *testing.T) {
	at := func(text string) engine.Position {
		s, err := gtid.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return engine.PositionOf(s)
	}
	const a, b = "aaaaaaaa-0000-0000-0000-000000000001", "bbbbbbbb-0000-0000-0000-000000000002"
	var none engine.Position
	for name, c := range map[string]struct {
		one, other        engine.Position
		beyond, count     int64
		contains, equalTo bool
	}{
		"a superset":            {at(a + ":1-10"), at(a + ":1-4"), 6, 10, true, false},
		"a subset":              {at(a + ":1-4"), at(a + ":1-10"), 0, 4, false, false},
		"one with own ones":     {at(a + ":1-4," + b + ":1-3"), at(a + ":1-10"), 3, 7, false, false},
		"the same":              {at(a + ":1-4"), at(a + ":1-2:3-4"), 0, 4, true, true},
		"one and none":          {at(a + ":1-4"), none, 4, 4, true, false},
		"none and one":          {none, at(a + ":1-4"), 0, 0, false, false},
		"none and none":         {none, none, 0, 0, true, true},
		"none and an empty set": {none, at(""), 0, 0, true, true},
	} {
		if got := c.one.Beyond(c.other); got != c.beyond {
			t.Errorf("%s: %d beyond, want %d", name, got, c.beyond)
		}
		if got := c.one.Count(); got != c.count {
			t.Errorf("%s: %d in it, want %d", name, got, c.count)
		}
		if got := c.one.Contains(c.other); got != c.contains {
			t.Errorf("%s: contains the other: %v", name, got)
		}
		if got := c.one.String() == c.other.String(); got != c.equalTo {
			t.Errorf("%s: the same text: %v", name, got)
		}
	}
}
