package finding

import (
	"regexp"
	"strings"
)

// Remedies have at most 25 words, and a command or a page. NAME stands for the experiment, NAMESPACE for its namespace.
const (
	repeatedWrites    = "Turn retries off in app, driver and proxy: docs/how-to/own-app.md#rules-for-exact-counts. Do not use the figures."
	unexpectedWrites  = "Make app and proxy store no write that they reject: docs/how-to/own-app.md#rules-for-exact-counts. Do not use the figures."
	contradiction     = "Do not use the figures. Keep results and logs with `kubectl replab export NAME`: docs/concepts/writes.md#cross-checks."
	otherSettings     = "Do not use the figures. Use an image that keeps the settings of the spec: docs/how-to/debug.md#sentences-of-the-status."
	digest            = "Name the image by its digest: docs/how-to/install.md."
	serverLog         = "Read the server's log with `kubectl replab logs NAME node`."
	auditLog          = "Read the audit's log with `kubectl replab logs NAME audit`."
	recorderLog       = "Read the recorder's log with `kubectl replab logs NAME recorder`. Check memory and disk of its machine."
	missingEvidence   = "Look for a pod that was killed before it wrote its result: `kubectl replab logs NAME`."
	killedLoad        = "Look for a k6 pod that was killed: `kubectl replab logs NAME load`."
	otherHosts        = "Send all requests of the script to the app's address: docs/how-to/own-script.md."
	silentTopology    = "Read the logs of nodes and failover manager with `kubectl replab logs NAME node director`."
	replicaBehind     = "Check the named node: it is far behind or does not replicate. Read `kubectl replab logs NAME node`."
	lateFailover      = "Let the last fault come earlier, so that the topology rests before the audit: docs/reference/faults.md."
	slowReturn        = "Give the nodes more processors, or less to resynchronise: docs/concepts/outage-and-lag.md#rejoin."
	unknownGoal       = "See docs/concepts/verdicts.md#goals-that-are-unknown. The reason says why the figure is not exact."
	unconfirmedFault  = "Read the fault's evidence in status.faults: docs/reference/faults.md#limits-of-all-faults."
	otherFault        = "The fault did not go as planned; the reason says how. See docs/reference/faults.md#limits-of-all-faults."
	lateFault         = "The machine or the operator was too busy. Run less beside it: docs/limits.md#one-machine."
	otherStage        = "Let the planned stage go on for 10 s beyond the fault, and repeat the run: docs/limits.md#one-machine."
	restart           = "Read the log before the restart with `kubectl replab logs NAME -p`. Check the limits of memory: docs/reference/sizes.md."
	foreignDeletion   = "Something other than replab deleted the pod. Find who in `kubectl events -n NAMESPACE` and the API server's audit log, then repeat the run."
	wrongDistance     = "Allow the agent NET_ADMIN, and use idle machines: docs/how-to/distance.md#prepare-the-topology-and-the-machine."
	replacedPod       = "Use Kill or Pause instead of DeletePod on a node with links: docs/how-to/distance.md#limits."
	latePackets       = "Use fewer users or more processors: docs/how-to/distance.md#limits."
	busyMachine       = "The machine was too busy. Give the recorder more processors, or use a lower load: docs/limits.md#one-machine."
	emptyFault        = "Let the fault come later, or further from the one before, so that writes precede it: docs/how-to/no-loss.md."
	noAcknowledgement = "See why requests failed in `kubectl replab report NAME --file report.html`, and in the logs of `kubectl replab logs NAME social proxy`."
	awayPath          = "Read the log before the restart with `kubectl replab logs NAME social proxy -p`. Check the limits of memory: docs/reference/sizes.md."
	otherBaseline     = "Run a baseline with the same load, dataset and machines first: docs/how-to/compare.md."
	fewUsers          = "Raise the stage's users, so that each request finds a free one, or lower requestsPerSecond: docs/limits.md#load-and-throughput."
	manyFailures      = "See why requests failed in `kubectl replab report NAME --file report.html`, or set no goal on this percentile: docs/limits.md#load-and-throughput."
)

// Remedy says what to do about any finding of the code. NAME stands for the experiment, NAMESPACE for its namespace.
func (c Code) Remedy() string { return c.remedy }

// Remedy says what to do about a sentence of a status, "" where no finding has it. NAME stands for the experiment, NAMESPACE for its namespace. A clause's remedy goes before its
// sentence's.
func Remedy(sentence string) string {
	best, most := "", -1
	for _, c := range codes {
		own := len(verb.ReplaceAllString(c.sentence, ""))
		if c.effect == Clause {
			own += clauseFirst
		}
		if c.remedy != "" && own > most && c.in(sentence) {
			best, most = c.remedy, own
		}
	}
	return best
}

// clauseFirst is more than any sentence has bytes.
const clauseFirst = 1000

var verb = regexp.MustCompile(`%[.0-9]*[a-z]`)

// in tells whether a text is the code's sentence, or has its clause.
func (c Code) in(text string) bool {
	parts := verb.Split(c.sentence, -1)
	for i, part := range parts {
		parts[i] = regexp.QuoteMeta(strings.ReplaceAll(part, "%%", "%"))
	}
	pattern := strings.Join(parts, ".*")
	if c.effect == Clause {
		pattern = "(^|: |; |because )" + pattern // not at the end of another clause: ", or the recorder was paused"
	} else {
		pattern = "^" + pattern + "$"
	}
	return regexp.MustCompile("(?s)" + pattern).MatchString(text)
}
