package figure

import "testing"

// TestNoBoundIsRoundedAway: a lower bound is never shown as more, and an upper one never as less.
func TestNoBoundIsRoundedAway(t *testing.T) {
	value := func(v int64) *int64 { return &v }
	for us, want := range map[int64]string{9996: "≥9.996ms", 99_966: "≥99.96ms", 999_960: "≥999.9ms", 12_349_990: "≥12.34s", 999: "≥999µs", 0: "≥0µs", 150_960_000: "≥150.9s", 16_580: "≥16.58ms"} {
		f := Figure{Path: "load.latency.p99Microseconds", Value: &us, AtLeast: &us}
		if got := f.Short(); got != want {
			t.Errorf("at least %d µs is %s, want %s", us, got, want)
		}
	}
	for ms, want := range map[int64]string{12_341: "≤12.35s", 9994: "≤9.994s", 100: "≤100ms", 150_110: "≤150.2s", 10_050: "≤10.05s"} {
		f := Figure{Path: "outageMilliseconds", Value: &ms, AtMost: &ms}
		if got := f.Short(); got != want {
			t.Errorf("at most %d ms is %s, want %s", ms, got, want)
		}
	}
	for name, c := range map[string]struct {
		f    Figure
		want string
	}{
		"bounds that people tell apart":      {Figure{Path: "outageMilliseconds", Value: value(1600), AtLeast: value(1200), AtMost: value(1600)}, "1.2 s to 1.6 s"},
		"bounds that people do not":          {Figure{Path: "outageMilliseconds", Value: value(1600), AtLeast: value(1520), AtMost: value(1600)}, "1.6 s"},
		"every write counts":                 {Figure{Path: "writes.lost", Value: value(100), AtLeast: value(100), AtMost: value(101)}, "100 to 101"},
		"what another figure contradicts":    {Figure{Path: "writes.lost", Value: value(3), Because: "why"}, "3 (why)"},
		"what was not measured":              {Figure{Path: "writes.lost", Because: "why"}, "not measured"},
		"thousandths of requests per second": {Figure{Path: "load.requestsPerSecondMilli", Value: value(2600), AtLeast: value(2600), AtMost: value(2600)}, "2.6/s"},
	} {
		if got := c.f.Text(); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestAGlanceHasFewDigits and rounds no bound away.
func TestAGlanceHasFewDigits(t *testing.T) {
	value := func(v int64) *int64 { return &v }
	for want, f := range map[string]Figure{
		"83 ms":          Exact("load.latency.p99Microseconds", 83_260),
		"5.2 ms":         Exact("load.latency.p99Microseconds", 5_230),
		"102 ms":         Exact("load.latency.maxMicroseconds", 102_300),
		"640 µs":         Exact("replication.lag.p50Microseconds", 640),
		"23 s":           Exact("outageMilliseconds", 23_063),
		"988 ms":         Exact("outageMilliseconds", 988),
		"0 ms":           Exact("outageMilliseconds", 0),
		"79/s":           Exact("load.requestsPerSecondMilli", 79_470),
		"2.6/s":          Exact("load.requestsPerSecondMilli", 2_640),
		"1,300":          Exact("writes.acknowledged", 1_300),
		"≥ 16 ms":        {Path: "load.latency.p99Microseconds", Value: value(16_970), AtLeast: value(16_970)},
		"≤ 13 s":         {Path: "outageMilliseconds", Value: value(12_100), AtMost: value(12_100)},
		"1.2 s to 1.7 s": {Path: "outageMilliseconds", Value: value(1_610), AtLeast: value(1_290), AtMost: value(1_610)},
		"1.6 s":          {Path: "outageMilliseconds", Value: value(1_600), AtLeast: value(1_520), AtMost: value(1_600)},
		"3 ?":            {Path: "writes.lost", Value: value(3), Because: "nobody knows"},
		"83 ms ?":        {Path: "load.latency.p99Microseconds", Value: value(83_260), Because: "the loop says so"},
		"not measured":   {Path: "outageMilliseconds"},
	} {
		if got := f.Brief(); got != want {
			t.Errorf("%+v at a glance is %s, want %s", f, got, want)
		}
	}
}

// TestABriefRateIsNotNothing: what is little stays more than 0.
func TestABriefRateIsNotNothing(t *testing.T) {
	for v, want := range map[int64]string{0: "0/s", 49: "0.049/s", 1230: "1.2/s"} {
		if got := Exact("load.requestsPerSecondMilli", v).Brief(); got != want {
			t.Errorf("%d is %q, want %q", v, got, want)
		}
	}
}

func TestPartOfABaselineHasItsBounds(t *testing.T) {
	low, value, high := int64(895), int64(947), int64(990)
	for want, f := range map[string]Figure{
		"":               {},
		"94.7%":          {Value: &value, AtLeast: &value, AtMost: &value},
		"89.5% to 99.0%": {Value: &value, AtLeast: &low, AtMost: &high},
	} {
		if got := f.Percents(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
