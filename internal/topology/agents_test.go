package topology

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/wire"
)

// turns are terms of a node by whom each came after. Each node's clock is a minute behind that of the one before it, so that no time tells who
// came after whom.
func turns(node string, after ...string) Told {
	a := Told{Node: node, History: &wire.NodeHistory{}}
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(-time.Duration(node[0]) * time.Minute)
	for i, before := range after {
		a.History.Terms = append(a.History.Terms, wire.WriterTerm{From: metav1.NewMicroTime(began.Add(time.Duration(i) * time.Second)), After: before})
	}
	return a
}

func TestWhoHadTheWritesLast(t *testing.T) {
	names := func(leader string, a Told) Told {
		a.History.Leader = leader
		return a
	}
	for name, c := range map[string]struct {
		all  []Told
		want string
	}{
		"nobody ever had them":                         {[]Told{turns("a"), turns("b"), turns("c")}, ""},
		"one alone had them":                           {[]Told{turns("a", ""), turns("b"), turns("c")}, "a"},
		"one came after another":                       {[]Told{turns("a", ""), turns("b", "a"), turns("c")}, "b"},
		"and another after both":                       {[]Told{turns("a", "", "b"), turns("b", "a"), turns("c", "a")}, "c"},
		"one took its place again":                     {[]Told{turns("a", "", "a"), turns("b"), turns("c")}, "a"},
		"one took its place again before another came": {[]Told{turns("a", "", "a"), turns("b", "a"), turns("c")}, "b"},
		"two in turns":                                 {[]Told{turns("a", "", "b"), turns("b", "a"), turns("c")}, "a"},
		"in turns, and one took its place again":       {[]Told{turns("a", "", "b", "a"), turns("b", "a"), turns("c")}, "a"},
		"two in turns after the first":                 {[]Told{turns("a", ""), turns("b", "a", "c"), turns("c", "b")}, "b"},
		"three in turns, and the first has them again": {[]Told{turns("a", "", "c"), turns("b", "a"), turns("c", "b")}, "a"},
		"and the second after it":                      {[]Told{turns("a", "", "c"), turns("b", "a", "a"), turns("c", "b")}, "b"},
		"one came after it knows not whom":             {[]Told{turns("a", "", ""), turns("b", "a"), turns("c")}, ""},
		"one came first, and another after nobody":     {[]Told{turns("a", ""), turns("b", ""), turns("c")}, ""},
		"one is silent, and may have come after":       {[]Told{turns("a", ""), turns("b", "a"), {Node: "c"}}, ""},
		"one is silent, and the others name it":        {[]Told{names("c", turns("a", "")), names("c", turns("b", "a")), {Node: "c"}}, "c"},
		"one names it, and the others nobody":          {[]Told{turns("a", ""), names("c", turns("b", "a")), {Node: "c"}}, "c"},
		"two are named":                                {[]Told{names("c", turns("a", "")), names("b", turns("b", "a")), {Node: "c"}}, ""},
		"who is named is no node":                      {[]Told{names("d", turns("a", "")), turns("b"), turns("c")}, ""},
	} {
		if got := LastWriter(c.all); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
