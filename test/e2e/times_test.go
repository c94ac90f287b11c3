//go:build e2e

package e2e

import (
	"sync"
	"testing"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/report/progress"
	"replab.dev/test/runtimes"
)

var times struct {
	sync.Mutex
	runs []runtimes.Times
}

// took prints where the time of a run went, as its conditions tell and to its removal, and keeps it for the table at the end.
func took(t *testing.T, x *v1alpha1.ReplicationExperiment, removedSeconds int64) {
	t.Helper()
	run := runtimes.Times{Run: x.Name, Steps: append(progress.Steps(x), progress.Step{Name: "removed", Seconds: removedSeconds})}
	t.Logf("seconds:\n%s", runtimes.Where([]runtimes.Times{run}))
	times.Lock()
	defer times.Unlock()
	times.runs = append(times.runs, run)
}

func where() string {
	times.Lock()
	defer times.Unlock()
	return runtimes.Where(times.runs)
}
