package seed

import (
	"log/slog"
	"time"
)

// progress tells people how far the seeding is.
type progress struct {
	users    int64
	started  time.Time
	resumed  int64 // users that were there before
	reported time.Time
}

func (p *progress) begin(users int64, now time.Time) {
	p.users, p.started, p.reported, p.resumed = users, now, now, -1
}

// resume notes how many users an attempt found. Only the first counts: later ones found this seeding's own.
func (p *progress) resume(done int64, now time.Time) {
	if p.resumed >= 0 {
		return
	}
	p.resumed, p.started = done, now
	slog.Info("seeding", "users", done, "of", p.users)
}

// report logs the state when the last line is old enough.
func (p *progress) report(done int64, now time.Time) {
	if now.Sub(p.reported) < progressInterval {
		return
	}
	p.reported = now
	rate, remaining := p.rate(done, now)
	slog.Info("seeding", "users", done, "of", p.users, "usersPerSecond", rate, "remaining", remaining)
}

// rate returns users per second since the start, and how long the rest takes at that rate.
func (p *progress) rate(done int64, now time.Time) (int64, time.Duration) {
	took := now.Sub(p.started)
	loaded := done - p.resumed
	if loaded <= 0 || took <= 0 {
		return 0, 0
	}
	remaining := time.Duration(float64(took) / float64(loaded) * float64(p.users-done))
	return int64(float64(loaded) / took.Seconds()), remaining.Round(time.Second)
}

func (p *progress) finish(now time.Time) {
	rate, _ := p.rate(p.users, now)
	slog.Info("seeded", "users", p.users, "found", p.resumed, "usersPerSecond", rate, "took", now.Sub(p.started).Round(time.Millisecond))
}
