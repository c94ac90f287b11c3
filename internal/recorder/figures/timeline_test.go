package figures

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/wire"
)

func TestTimeline(t *testing.T) {
	r, c := newRecorder()
	request(r, c, "steady", Profile, 200*time.Millisecond, 10*time.Millisecond, true)
	request(r, c, "steady", Profile, 900*time.Millisecond, 200*time.Millisecond, false) // ends in second 1
	request(r, c, "steady", Profile, 900*time.Millisecond, 300*time.Millisecond, true)
	c.set(1500 * time.Millisecond)
	r.Wrote("a")
	c.set(1600 * time.Millisecond)
	r.Wrote("b")
	r.SetLag(1, []int64{5, -1})
	request(r, c, "open", Profile, 3100*time.Millisecond, 40*time.Millisecond, true)
	request(r, c, "open", Profile, 4100*time.Millisecond, 40*time.Millisecond, false)

	second := func(i int) metav1.MicroTime { return metav1.NewMicroTime(start.Add(time.Duration(i) * time.Second)) }
	want := []wire.Second{
		{At: second(0), Requests: 1, P50Microseconds: new(int64(10_000)), P99Microseconds: new(int64(10_000))},
		{ // the slower of two is the one that failed
			At: second(1), Requests: 2, Failures: 1, P50Microseconds: new(int64(300_000)), P99Microseconds: new(int64(300_000)),
			LowerBounds:     []v1alpha1.Percentile{v1alpha1.P99},
			LagMicroseconds: []int64{5, -1}, Writer: "b",
		},
		{At: second(2)},
		{At: second(3), Requests: 1, P50Microseconds: new(int64(40_000)), P99Microseconds: new(int64(40_000))},
		{At: second(4), Requests: 1, Failures: 1}, // none succeeded: a percentile of nothing is absent
	}
	got, omitted := r.Timeline()
	if diff := cmp.Diff(want, got, withinHistogram); diff != "" || omitted != 0 {
		t.Errorf("%d omitted, timeline (-want +got):\n%s", omitted, diff)
	}
}

// withinHistogram compares microseconds as closely as three digits allow.
var withinHistogram = cmp.Comparer(func(a, b *int64) bool {
	return a == nil && b == nil || a != nil && b != nil && *a-*b <= *b/1000 && *b-*a <= *a/1000
})

func TestTheTimelineOfARestartedRecorderBeginsWithIt(t *testing.T) {
	c := &clock{}
	c.set(90*time.Second + 300*time.Millisecond)
	r := New(stages, c.now)
	r.Start(start)
	request(r, c, "steady", Profile, 91*time.Second, time.Millisecond, true)
	r.SetLag(89, []int64{1})
	got, _ := r.Timeline()
	if len(got) != 2 || !got[0].At.Time.Equal(start.Add(90*time.Second)) || got[1].Requests != 1 || got[0].LagMicroseconds != nil {
		t.Errorf("timeline %+v", got)
	}
}

func TestTheTimelineIsBoundedAndSaysWhatItLeavesOut(t *testing.T) {
	r, c := newRecorder()
	request(r, c, "steady", Profile, (MaxSeconds-1)*time.Second, time.Millisecond, true)
	request(r, c, "steady", Profile, (MaxSeconds+9)*time.Second, time.Millisecond, true)
	got, omitted := r.Timeline()
	if len(got) != MaxSeconds || got[MaxSeconds-1].Requests != 1 || omitted != 10 {
		t.Errorf("%d seconds, the last with %d requests, %d omitted", len(got), got[len(got)-1].Requests, omitted)
	}
	if r.Total().Requests != 2 {
		t.Errorf("%d requests in all, want both", r.Total().Requests)
	}
}

func TestBeforeTheLoadThereIsNoTimeline(t *testing.T) {
	c := &clock{Time: start}
	r := New(stages, c.now)
	r.Wrote("a")
	if got, omitted := r.Timeline(); got != nil || omitted != 0 {
		t.Errorf("timeline %v, %d omitted", got, omitted)
	}
}
