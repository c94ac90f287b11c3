package recorder

import (
	"fmt"
	"testing"

	"replab.dev/internal/wire"
)

func TestResultsThatAreTooLargeHaveATimelineOfLongerSteps(t *testing.T) {
	var full wire.RecorderResults
	full.TimelineStepSeconds = 1
	full.Load.Requests = 12345
	for i := range 1001 {
		full.Timeline = append(full.Timeline, wire.Second{
			Requests: int64(i), Failures: int64(i % 7), P50Microseconds: new(int64(i * 7919)), LagMicroseconds: []int64{int64(i * 31), -1},
			Writer: fmt.Sprint("node-", i/600),
		})
	}
	whole, err := pack(full, maxResultsBytes)
	if err != nil {
		t.Fatal(err)
	}
	packed, err := pack(full, len(whole)/3)
	if err != nil || len(packed) > len(whole)/3 {
		t.Fatalf("%d bytes, %v; want at most %d", len(packed), err, len(whole)/3)
	}
	got, err := unpack(packed)
	if err != nil {
		t.Fatal(err)
	}
	if got.TimelineStepSeconds < 2 || got.Load.Requests != 12345 || len(got.Timeline) != (1001+int(got.TimelineStepSeconds)-1)/int(got.TimelineStepSeconds) {
		t.Errorf("steps of %d s, %d entries", got.TimelineStepSeconds, len(got.Timeline))
	}
	var requests, failures int64
	for _, s := range got.Timeline {
		requests += s.Requests
		failures += s.Failures
		if s.P50Microseconds != nil {
			t.Error("a percentile that cannot be known")
		}
	}
	if requests != 1000*1001/2 || failures != 143*21 {
		t.Errorf("the timeline has %d requests and %d failures", requests, failures)
	}
	last := got.Timeline[len(got.Timeline)-1]
	if last.LagMicroseconds[0] != 1000*31 || last.LagMicroseconds[1] != -1 || last.Writer != "node-1" {
		t.Errorf("the last entry is %+v", last)
	}
	if _, err := pack(full, 10); err == nil {
		t.Error("results of 10 bytes")
	}
}

func TestResultsThatWereCutShortAreNotRead(t *testing.T) {
	packed, err := pack(wire.RecorderResults{TimelineStepSeconds: 1}, maxResultsBytes)
	if err != nil {
		t.Fatal(err)
	}
	for n := range packed {
		if _, err := unpack(packed[:n]); err == nil {
			t.Errorf("%d of %d bytes were read", n, len(packed))
		}
	}
}
