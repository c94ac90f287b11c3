package topology

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/wire"
)

// turns are terms of a node by whom each came after. Each node's clock is a minute behind that of the one before it, so that no time tells who
// came after whom.
func turns(node string, after ...string) Testimony {
	a := Testimony{Node: node, Answered: true}
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(-time.Duration(node[0]) * time.Minute)
	for i, before := range after {
		a.Terms = append(a.Terms, wire.WriterTerm{From: metav1.NewMicroTime(began.Add(time.Duration(i) * time.Second)), After: before})
	}
	return a
}

func TestWhoHadTheWritesLast(t *testing.T) {
	names := func(leader string, a Testimony) Testimony {
		a.Leader = leader
		return a
	}
	for name, c := range map[string]struct {
		all  []Testimony
		want string
	}{
		"nobody ever had them":                         {[]Testimony{turns("a"), turns("b"), turns("c")}, ""},
		"one alone had them":                           {[]Testimony{turns("a", ""), turns("b"), turns("c")}, "a"},
		"one came after another":                       {[]Testimony{turns("a", ""), turns("b", "a"), turns("c")}, "b"},
		"and another after both":                       {[]Testimony{turns("a", "", "b"), turns("b", "a"), turns("c", "a")}, "c"},
		"one took its place again":                     {[]Testimony{turns("a", "", "a"), turns("b"), turns("c")}, "a"},
		"one took its place again before another came": {[]Testimony{turns("a", "", "a"), turns("b", "a"), turns("c")}, "b"},
		"two in turns":                                 {[]Testimony{turns("a", "", "b"), turns("b", "a"), turns("c")}, "a"},
		"in turns, and one took its place again":       {[]Testimony{turns("a", "", "b", "a"), turns("b", "a"), turns("c")}, "a"},
		"two in turns after the first":                 {[]Testimony{turns("a", ""), turns("b", "a", "c"), turns("c", "b")}, "b"},
		"three in turns, and the first has them again": {[]Testimony{turns("a", "", "c"), turns("b", "a"), turns("c", "b")}, "a"},
		"and the second after it":                      {[]Testimony{turns("a", "", "c"), turns("b", "a", "a"), turns("c", "b")}, "b"},
		"one came after it knows not whom":             {[]Testimony{turns("a", "", ""), turns("b", "a"), turns("c")}, ""},
		"one came first, and another after nobody":     {[]Testimony{turns("a", ""), turns("b", ""), turns("c")}, ""},
		"one is silent, and may have come after":       {[]Testimony{turns("a", ""), turns("b", "a"), {Node: "c"}}, ""},
		"one is silent, and the others name it":        {[]Testimony{names("c", turns("a", "")), names("c", turns("b", "a")), {Node: "c"}}, "c"},
		"one names it, and the others nobody":          {[]Testimony{turns("a", ""), names("c", turns("b", "a")), {Node: "c"}}, "c"},
		"two are named":                                {[]Testimony{names("c", turns("a", "")), names("b", turns("b", "a")), {Node: "c"}}, ""},
		"who is named is no node":                      {[]Testimony{names("d", turns("a", "")), turns("b"), turns("c")}, ""},
	} {
		if got := LastWriter(c.all); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
