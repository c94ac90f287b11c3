package gtid_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"replab.dev/internal/engine/mysql/gtid"
	"replab.dev/internal/engine/mysql/mysqltest"
	"replab.dev/internal/wire"
)

const (
	a = "aaaaaaaa-0000-0000-0000-000000000001"
	b = "bbbbbbbb-0000-0000-0000-000000000002"
)

func parse(t *testing.T, text string) gtid.Set {
	t.Helper()
	s, err := gtid.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestParse(t *testing.T) {
	for name, c := range map[string]struct {
		text, want string
		count      int64
	}{
		"an empty text is the empty set":             {"", "", 0},
		"white space alone is the empty set":         {" \n", "", 0},
		"a single transaction":                       {a + ":7", a + ":7", 1},
		"the newline that servers put after a comma": {a + ":1-5,\n" + b + ":3", a + ":1-5," + b + ":3", 6},
		"intervals that touch become one":            {a + ":1-5:6-9:11", a + ":1-9:11", 10},
		"intervals that overlap count once":          {a + ":4-9:1-5", a + ":1-9", 9},
		"an origin that is named twice":              {a + ":1-2," + a + ":5", a + ":1-2:5", 3},
		"upper case is the same server":              {strings.ToUpper(a) + ":1," + a + ":2", a + ":1-2", 2},
		"a tag holds for what follows it":            {a + ":1-3:blue:1-2:5:red:1", a + ":1-3," + a + ":blue:1-2:5," + a + ":red:1", 7},
		"a tag without untagged transactions":        {a + ":blue:4", a + ":blue:4", 1},
		"several servers, tags and gaps":             {a + ":1-2:_a:1:b_2:1-4, " + b + ":b_2:1", a + ":1-2," + a + ":_a:1," + a + ":b_2:1-4," + b + ":b_2:1", 8},
		"the same transactions under two tags":       {a + ":blue:1-5:red:1-5", a + ":blue:1-5," + a + ":red:1-5", 10},
		"the highest number that a server uses":      {a + ":1-9223372036854775806", a + ":1-9223372036854775806", 9223372036854775806},
	} {
		t.Run(name, func(t *testing.T) {
			s := parse(t, c.text)
			if s.String() != c.want || s.Count() != c.count {
				t.Errorf("got %s with %d, want %s with %d", s, s.Count(), c.want, c.count)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"a text that is no UUID":       "abc:1",
		"a UUID without transactions":  a,
		"an interval that runs back":   a + ":5-2",
		"transaction number 0":         a + ":0",
		"a number with letters in it":  a + ":1x",
		"a range without an end":       a + ":1-",
		"nothing between colons":       a + "::1",
		"a number beyond 64 bits":      a + ":99999999999999999999",
		"an interval with three parts": a + ":1-2-3",
		"a number with a sign":         a + ":-3",
		"a tag without transactions":   a + ":1:blue",
		"a comma too many":             a + ":1,",
		"words":                        "no such set",
	} {
		t.Run(name, func(t *testing.T) {
			if s, err := gtid.Parse(text); err == nil {
				t.Errorf("read as %s", s)
			}
		})
	}
}

func TestAlgebra(t *testing.T) {
	for name, c := range map[string]struct {
		left, right, minus, union string
		contains                  bool
	}{
		"equal sets":                       {a + ":1-5", a + ":1-5", "", a + ":1-5", true},
		"a superset":                       {a + ":1-9", a + ":3-4", a + ":1-2:5-9", a + ":1-9", true},
		"a subset":                         {a + ":3-4", a + ":1-9", "", a + ":1-9", false},
		"sets that overlap":                {a + ":1-5", a + ":4-8", a + ":1-3", a + ":1-8", false},
		"another origin":                   {a + ":1-5", b + ":1-5", a + ":1-5", a + ":1-5," + b + ":1-5", false},
		"another tag is another origin":    {a + ":1-5", a + ":blue:1-5", a + ":1-5", a + ":1-5," + a + ":blue:1-5", false},
		"nothing is in everything":         {a + ":1", "", a + ":1", a + ":1", true},
		"nothing holds nothing":            {"", "", "", "", true},
		"a cut through several intervals":  {a + ":1-3:5-7:9-11", a + ":2-10", a + ":1:11", a + ":1-11", false},
		"several cuts through an interval": {a + ":1-10", a + ":1:3:5-6:10", a + ":2:4:7-9", a + ":1-10", true},
	} {
		t.Run(name, func(t *testing.T) {
			left, right := parse(t, c.left), parse(t, c.right)
			if got := left.Minus(right).String(); got != c.minus {
				t.Errorf("minus is %q, want %q", got, c.minus)
			}
			if got := left.Union(right).String(); got != c.union {
				t.Errorf("union is %q, want %q", got, c.union)
			}
			if got := left.Contains(right); got != c.contains {
				t.Errorf("contains is %v, want %v", got, c.contains)
			}
			if left.String() != parse(t, c.left).String() || right.String() != parse(t, c.right).String() {
				t.Error("an operation changed its operands")
			}
		})
	}
}

func TestAgreesWithServer(t *testing.T) {
	db := mysqltest.Start(t, "server").DB(wire.AccountAdmin, "")
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		left, right := randomSet(random), randomSet(random)
		var subset bool
		var minus, back string
		query := "SELECT GTID_SUBSET(?, ?), GTID_SUBTRACT(?, ?), GTID_SUBTRACT(?, '')"
		err := db.QueryRow(query, right, left, left, right, parse(t, left).Minus(parse(t, right)).String()).Scan(&subset, &minus, &back)
		if err != nil {
			t.Fatal(err)
		}
		ours := parse(t, left).Minus(parse(t, right))
		if parse(t, left).Contains(parse(t, right)) != subset || ours.String() != parse(t, minus).String() {
			t.Fatalf("%s against %s: we say %s, the server %s (subset %v)", left, right, ours, minus, subset)
		}
		if minus != back {
			t.Fatalf("the server reads %s as %s, want %s", ours, back, minus)
		}
	}
}

func randomSet(random *rand.Rand) string {
	var entries []string
	for range random.IntN(4) {
		entry := []string{a, b}[random.IntN(2)]
		if random.IntN(3) == 0 {
			entry += []string{":blue", ":red"}[random.IntN(2)]
		}
		for range 1 + random.IntN(3) {
			first := 1 + random.IntN(20)
			entry += fmt.Sprintf(":%d-%d", first, first+random.IntN(6))
		}
		entries = append(entries, entry)
	}
	return strings.Join(entries, ",")
}
