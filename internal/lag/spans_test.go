package lag

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParseSpans(t *testing.T) {
	const id = "3e11fa47-71ca-41e1-9e33-c80aa9429562"
	tests := map[string]struct {
		set     string
		want    spans
		invalid bool
	}{
		"an empty set":              {set: ""},
		"one write":                 {set: id + ":7", want: spans{{7, 7}}},
		"one interval":              {set: id + ":7-9", want: spans{{7, 9}}},
		"several":                   {set: id + ":1-5:8:10-11", want: spans{{1, 5}, {8, 8}, {10, 11}}},
		"no interval":               {set: id, invalid: true},
		"a tag":                     {set: id + ":tag:1", invalid: true},
		"another source behind":     {set: id + ":1-5,\n" + id + ":1", invalid: true},
		"an interval the wrong way": {set: id + ":5-1", invalid: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := parseSpans(test.set)
			if (err != nil) != test.invalid {
				t.Fatalf("error %v, want one: %v", err, test.invalid)
			}
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(span{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSpansHave(t *testing.T) {
	s := spans{{2, 3}, {7, 7}}
	for seq, want := range map[uint64]bool{1: false, 2: true, 3: true, 4: false, 6: false, 7: true, 8: false} {
		if s.has(seq) != want {
			t.Errorf("has(%d) is %v", seq, !want)
		}
	}
}

func TestNextCheck(t *testing.T) {
	const acked = time.Second
	tests := map[string]struct{ lower, guess, want time.Duration }{
		"first at the acknowledgement":             {acked - ms, 2 * ms, acked},
		"then at the guess":                        {acked, 2 * ms, acked + 2*ms},
		"then a third further":                     {acked + 3*ms, 2 * ms, acked + 4*ms},
		"not closer than a round trip":             {acked + ms/10, ms / 10, acked + ms/5},
		"not further than what bounds the bracket": {acked + time.Second, 2 * ms, acked + time.Second + mostGap},
		"a large guess leaves no larger gap":       {acked + ms, time.Second, acked + ms + mostGap},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := nextCheck(acked, test.lower, test.guess); got != test.want {
				t.Errorf("got %v after the acknowledgement, want %v", got-acked, test.want-acked)
			}
		})
	}
}

func TestTheGuessSettlesAtTheSmallestQuarter(t *testing.T) {
	guess := leastGuess
	below := 0
	for i := range 10000 {
		lag := time.Duration(1000+(i*7919)%1000) * time.Microsecond // 1 to 2 ms, evenly
		if i > 1000 && lag <= guess {
			below++
		}
		guess = learnGuess(guess, lag)
	}
	if below < 1500 || below > 3500 {
		t.Errorf("%d of 9000 lags are not above the guess, want about a quarter", below)
	}
}
