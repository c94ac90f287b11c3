package plugin

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"

	"replab.dev/api/v1alpha1"
)

// Exit codes.
const (
	ExitOK          = 0   // done; of run and watch: the experiment has passed
	ExitFailed      = 1   // a goal was not met; of doctor: the cluster is not fit; of check: an experiment is refused
	ExitUnknown     = 2   // inconclusive or invalid: nothing was found out
	ExitNotRun      = 3   // it could not be carried out: also one that the operator refused
	ExitInterrupted = 130 // as shells have it of a command that SIGINT ended: the run goes on
)

// exit is an error that has been told of already: only the code is left to say.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// exitOf an experiment that is over. One that the operator did not accept was not carried out.
func exitOf(x *v1alpha1.ReplicationExperiment) int {
	switch {
	case !meta.IsStatusConditionTrue(x.Status.Conditions, v1alpha1.ConditionAccepted):
		return ExitNotRun
	case x.Status.Verdict == v1alpha1.VerdictPassed:
		return ExitOK
	case x.Status.Verdict == v1alpha1.VerdictFailed:
		return ExitFailed
	}
	return ExitUnknown
}
