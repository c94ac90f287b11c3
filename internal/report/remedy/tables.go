package remedy

import (
	"replab.dev/api/v1alpha1"
	"replab.dev/internal/verdict/finding"
)

const again = "Repeat the run; this deletes its results: `kubectl replab run FILE --replace -n NAMESPACE`."

// missed goals by their metric.
var missed = map[v1alpha1.Metric]string{
	"requestsPerSecond":        load,
	"p50Microseconds":          load,
	"p95Microseconds":          load,
	"p99Microseconds":          load,
	"maxMicroseconds":          load,
	"failedRequests":           failures,
	"droppedIterations":        failures,
	"staleReads":               "Replicas answered reads late. See the lag in `kubectl replab report NAME --file report.html`: docs/concepts/outage-and-lag.md#lag.",
	"lagP50Microseconds":       lag,
	"lagP99Microseconds":       lag,
	"lagMaxMicroseconds":       lag,
	"degradedCommits":          "Commits did not wait for a replica. See when in `kubectl replab report NAME --file report.html`: docs/concepts/writes.md#degraded.",
	"outageMilliseconds":       "See each fault's outage and the phases of a failover in `kubectl replab report NAME --file report.html`: docs/how-to/outage.md.",
	"rejectedWrites":           failures,
	"indeterminateWrites":      "Writes without a reliable answer are no losses. See when in `kubectl replab report NAME --file report.html`: docs/concepts/writes.md#indeterminate.",
	"lostWrites":               "Acknowledged writes are gone. Choose another durability or topology: docs/concepts/topologies.md.",
	"lostWrites min":           "The positive control saw no loss. Widen the window in which writes can be lost: docs/how-to/loss-window.md.",
	"conflictingWrites":        conflicts,
	"divergentRows":            conflicts,
	"ghostWrites":              "An old primary has writes that no other node has. See `kubectl replab report NAME --file report.html`: docs/concepts/writes.md#ghost.",
	"certificationFailures":    conflicts,
	"forcedAborts":             conflicts,
	"flowControlPausedPercent": "A slow member held all writers up. See the members in `kubectl replab report NAME --file report.html`: docs/how-to/galera.md#limits.",
}

// degraded topologies that lost writes, and what makes their commits wait.
var degraded = map[v1alpha1.TopologyType]string{
	v1alpha1.TopologySemiSync: "Commits stopped waiting for a replica. If clients may wait longer, raise topology.semiSync.timeoutMilliseconds: docs/how-to/semisync.md.",
	v1alpha1.TopologyPatroni:  "Commits did not wait for a standby. If clients may wait, use Quorum with topology.patroni.strict: docs/how-to/patroni.md.",
}

const (
	load      = "See which stage was slow, and the processors' use, in `kubectl replab report NAME --file report.html`: docs/limits.md#load-and-throughput."
	failures  = "See when and how requests failed in `kubectl replab report NAME --file report.html`: docs/limits.md#load-and-throughput."
	lag       = "See which node was behind, and when, in `kubectl replab report NAME --file report.html`: docs/concepts/outage-and-lag.md#lag."
	conflicts = "Transactions changed the same rows, on one node or several. See docs/concepts/writes.md#two-primaries."
)

// slow reasons may last as long as the load or the dataset needs.
var slow = []string{v1alpha1.ReasonRunning, v1alpha1.ReasonFaultAhead, v1alpha1.ReasonLoading, v1alpha1.ReasonCounting}

// waits by the reason of the condition that is False.
var waits = map[string]string{
	v1alpha1.ReasonSuspended:        "Start it: `kubectl patch repx NAME --type merge -p '{\"spec\":{\"suspend\":false}}'`",
	v1alpha1.ReasonUndecodable:      "Correct the field that the message names, and apply the file again: docs/reference/conditions.md#reasons.",
	v1alpha1.ReasonHeld:             "Another operator carries it out. If no such operator runs, delete the Lease in the message: docs/how-to/debug.md#the-experiment-is-not-accepted.",
	v1alpha1.ReasonReferenceMissing: "Create the missing object within 10 s: docs/reference/conditions.md#reasons.",
	v1alpha1.ReasonQueued:           "Wait for the experiments before it, or end one of yours with `kubectl replab abort`: docs/how-to/debug.md#the-run-waits.",
	v1alpha1.ReasonPredecessor:      "Wait up to 3 minutes. If objects stay longer, see docs/how-to/clean-up.md#objects-remain.",
	v1alpha1.ReasonRefused:          "Change the quota, right or webhook in the message within a minute: docs/reference/conditions.md#reasons.",
	v1alpha1.ReasonRecorderSilent:   "Read the recorder's log with `kubectl replab logs NAME recorder`. After 90 s of silence the run ends.",
	v1alpha1.ReasonAiming:           "No node has the fault's role. After 20 s the run ends: docs/reference/faults.md#targets.",
}

// suiteWaits by the reason of the condition Complete.
var suiteWaits = map[string]string{
	v1alpha1.ReasonSuspended:     "Set spec.suspend of the suite, or of the trial in the message, to false: docs/reference/conditions.md#reasons.",
	v1alpha1.ReasonNameTaken:     "Delete the experiment in the message, or create a suite of another name: docs/reference/conditions.md#reasons.",
	v1alpha1.ReasonSpecChanged:   "Restore the spec of the start, or set spec.abort to true: docs/reference/conditions.md#reasons.",
	v1alpha1.ReasonUndecodable:   "Delete the trial in the message: the suite repeats it while retries are left. See docs/how-to/suites.md#run-it.",
	v1alpha1.ReasonObjectRefused: "Change the quota, right or webhook in the message: docs/reference/conditions.md#reasons.",
}

// ending reasons by their word: the condition has it, and a suite's reasons begin with it.
var ending = map[string]string{
	v1alpha1.ReasonRemaining:           "Remove the objects that remain: docs/how-to/clean-up.md#objects-remain.",
	v1alpha1.ReasonSpecRefused:         "Correct the fields in the reasons: `kubectl replab check FILE` lists the errors. See docs/reference/api.md.",
	v1alpha1.ReasonNotFound:            "Create the missing object first, in the experiment's namespace: docs/reference/conditions.md#reasons.",
	v1alpha1.ReasonObjectRefused:       "Change the quota, pod security, webhook or right in the reason: docs/reference/conditions.md#reasons.",
	v1alpha1.ReasonImageCannotBePulled: "Check the spec's images, the chart's images and pods.all.imagePullSecrets: docs/how-to/own-cluster.md#images.",
	v1alpha1.ReasonPodUnschedulable:    "Delete finished experiments that keep their pods, or use smaller resources, fewer nodes, or other selectors and tolerations: docs/reference/sizes.md.",
	v1alpha1.ReasonVolumeNotBound:      "Choose another topology.storage.className or medium: docs/how-to/own-cluster.md.",
	v1alpha1.ReasonPodNotStarted:       "See the pod's events and its machine's kubelet: `kubectl get events -n NAMESPACE`.",
	v1alpha1.ReasonContainerConfig:     "Check the image's user and command against the pod's security context: docs/reference/security.md.",
	v1alpha1.ReasonCrashLoop:           "Read the last lines of the reason and `kubectl replab logs NAME -p`. Check image and topology.parameters.",
	v1alpha1.ReasonPodFailed:           "Check memory and disk of the machine in the reason: docs/reference/sizes.md.",
	v1alpha1.ReasonPodAltered:          "Find the program that patched the pod: docs/reference/security.md.",
	v1alpha1.ReasonTimeout:             "Read the pods' logs with `kubectl replab logs NAME`. Run less on a slow machine: docs/reference/conditions.md.",
	v1alpha1.ReasonSeedFailed:          "Read the job's log with `kubectl replab logs NAME seed`.",
	v1alpha1.ReasonLinksNotSet:         finding.LinksNotSet.Remedy(),
	v1alpha1.ReasonLoadFailed:          "Read k6's log with `kubectl replab logs NAME load`. If its pod is gone, see `kubectl get events`.",
	v1alpha1.ReasonRecorderFailed:      finding.RecorderFailed.Remedy(),
	v1alpha1.ReasonFaultImpossible:     "Give the topology more time before the fault, or name the node by its number: docs/reference/faults.md#targets.",
	v1alpha1.ReasonEvidenceTooLarge:    "Find the other writer of the run's ConfigMaps or pods: docs/reference/conditions.md#reasons.",
	v1alpha1.ReasonAuditFailed:         finding.AuditFailed.Remedy(),
	v1alpha1.ReasonPlanChanged:         "The operator was upgraded during deployment. Nothing is wrong: docs/reference/conditions.md#reasons.",
	v1alpha1.ReasonAborted:             "Figures measured until the abort are in the status. See what stays, and how to remove it: docs/how-to/clean-up.md.",
	v1alpha1.ReasonDeadlineExceeded:    "Raise spec.deadlineSeconds. `kubectl replab describe NAME` shows which step was slow.",
	v1alpha1.ReasonUndecodable:         "Create another suite: docs/reference/conditions.md#reasons.",
}
