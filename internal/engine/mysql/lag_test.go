package mysql

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"replab.dev/internal/engine"
)

func TestTheProbesOwnWritesAreReadFromAGTIDSet(t *testing.T) {
	const id, other = "3e11fa47-71ca-41e1-9e33-c80aa9429562", "9c2cb1a0-0000-41f0-8f2b-0242ac110002"
	l := Lag{source: id}
	for name, c := range map[string]struct {
		set     string
		want    engine.Spans
		invalid bool
	}{
		"an empty set":              {set: ""},
		"one write":                 {set: id + ":7", want: engine.Spans{{First: 7, Last: 7}}},
		"one interval":              {set: id + ":7-9", want: engine.Spans{{First: 7, Last: 9}}},
		"several":                   {set: id + ":1-5:8:10-11", want: engine.Spans{{First: 1, Last: 5}, {First: 8, Last: 8}, {First: 10, Last: 11}}},
		"no interval":               {set: id, invalid: true},
		"a tag":                     {set: id + ":tag:1", invalid: true},
		"a tag beside":              {set: id + ":1:tag:1", invalid: true},
		"another source":            {set: other + ":1", invalid: true},
		"another source behind":     {set: id + ":1-5,\n" + other + ":1", invalid: true},
		"an interval the wrong way": {set: id + ":5-1", invalid: true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := l.spans(c.set)
			if (err != nil) != c.invalid {
				t.Fatalf("error %v, want one: %v", err, c.invalid)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
