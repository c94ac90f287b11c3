package audit

import "testing"

const (
	uuidA = "3e11fa47-71ca-11e1-9e33-c80aa9429562"
	uuidB = "9C2CB1A0-0000-11F0-8F2B-0242AC110002"
)

func TestGTIDSetsAreCountedExactly(t *testing.T) {
	for name, c := range map[string]struct {
		set  string
		want int64
	}{
		"the empty set":                         {"", 0},
		"nothing but white space":               {" \n", 0},
		"one transaction":                       {uuidA + ":7", 1},
		"an interval":                           {uuidA + ":1-5", 5},
		"an interval of one":                    {uuidA + ":5-5", 1},
		"several intervals":                     {uuidA + ":1-3:5:11-47", 41},
		"several sources":                       {uuidA + ":1-3,\n" + uuidB + ":2-3:9", 6},
		"a tag alone":                           {uuidA + ":ghosts:1-3:5", 4},
		"untagged, then tagged":                 {uuidA + ":1-10:ghosts:1-3:5", 14},
		"two tags":                              {uuidA + ":1-2:_a:1:b_2:1-4, " + uuidB + ":b_2:1", 8},
		"the same intervals under two tags":     {uuidA + ":a:1-5:b:1-5", 10},
		"a source again with other intervals":   {uuidA + ":1-2," + uuidA + ":4-5", 4},
		"the highest number that a server uses": {uuidA + ":1-9223372036854775806", 9223372036854775806},
	} {
		if got, err := countGTIDs(c.set); err != nil || got != c.want {
			t.Errorf("%s: %d, %v, want %d", name, got, err, c.want)
		}
	}
}

func TestWhatIsNoGTIDSetIsRefused(t *testing.T) {
	for name, set := range map[string]string{
		"no transactions":                          uuidA,
		"no source":                                "1-5",
		"a source that is no UUID":                 "3e11:1-5",
		"an interval that runs backwards":          uuidA + ":5-3",
		"transaction 0":                            uuidA + ":0-3",
		"half an interval":                         uuidA + ":3-",
		"an empty interval":                        uuidA + ":1::2",
		"a number with a sign":                     uuidA + ":-3",
		"intervals that overlap":                   uuidA + ":1-3:3-5",
		"intervals that overlap across a comma":    uuidA + ":1-3," + uuidA + ":2",
		"a source twice, in capitals the 2nd time": uuidA + ":1," + "3E11FA47-71CA-11E1-9E33-C80AA9429562:1",
		"a comma too many":                         uuidA + ":1,",
		"words":                                    "no such set",
		"a number beyond 64 bits":                  uuidA + ":1-99999999999999999999",
	} {
		if got, err := countGTIDs(set); err == nil {
			t.Errorf("%s: counted %d", name, got)
		}
	}
}
