package figures

import (
	"cmp"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
)

// Began is when the load did, the zero time of a run without one.
func (d *Document) Began() time.Time {
	began := d.Status.LoadStartTime
	if r := d.Recorder; r != nil {
		began = cmp.Or(began, r.LoadStartedAt)
		if len(r.Timeline) > 0 {
			began = cmp.Or(began, &r.Timeline[0].At)
		}
	}
	if began == nil {
		return time.Time{}
	}
	return began.Time
}

// Moment is a time in seconds since the load began, by the recorder's clock. Another clock is set off by the middle of its bounds.
func (d *Document) Moment(at metav1.MicroTime, clock *v1alpha1.ClockStatus) float64 {
	seconds := at.Sub(d.Began()).Seconds()
	if clock != nil {
		seconds -= clock.Ahead().Seconds()
	}
	return seconds
}
