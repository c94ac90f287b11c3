package k6

import (
	"net/http"
	"testing"
	"time"
)

// TestUsersComeAtARate: six users, four a second, the first at once. In 2 s they work 2 + 1.75 + ... + 0.75 s, 4.125 users on
// average; all at once would be 6. Shared by two pods it is the same.
func TestUsersComeAtARate(t *testing.T) {
	t.Parallel()
	const duration, want = 2, 4.125
	stage := closed("steady", 0, duration, 6)
	stage.SpawnPerSecond = 4
	for name, segments := range map[string][][]string{
		"one pod":  {nil},
		"two pods": {{"--execution-segment", "0:1/2", "--execution-segment-sequence", "0,1/2,1"}, {"--execution-segment", "1/2:1", "--execution-segment-sequence", "0,1/2,1"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := startTarget(t)
			s.delay = func(int, *http.Request) { time.Sleep(20 * time.Millisecond) } // a server that takes its time
			var runs []*k6Run
			for _, args := range segments {
				runs = append(runs, start(t, s, Script(), load(stage), args...))
			}
			users := 0.0
			for _, r := range runs {
				summary, _ := r.succeed()
				users += float64(summary.Stages[0].Iterations) * float64(summary.Stages[0].IterationMeanMicroseconds) / 1e6 / duration
			}
			if users > want+0.6 || users < want-1.2 { // on a busy machine they come late, and their last iterations are cut off
				t.Errorf("%.3f users on average, want %.3f", users, want)
			}
		})
	}
}
