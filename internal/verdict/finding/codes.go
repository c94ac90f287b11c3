package finding

// Writes.
var (
	DuplicateWrites        = Code{Invalid, "%d writes are present more than once: something behind the app repeats writes."}
	UnexpectedWrites       = Code{Invalid, "%d writes are present that were rejected or never sent."}
	SetsDoNotAddUp         = Code{Invalid, "The sets of writes do not add up: sent %d, acknowledged %d, rejected %d, indeterminate %d, present %d, lost %d, recovered %d."}
	LedgersDiffer          = Code{Invalid, "The audit read a ledger of %d writes (%d acknowledged); the recorder kept %d (%d acknowledged)."}
	ClientsDiffer          = Code{Invalid, "The clients count %d acknowledged writes, the ledger %d. At most %d may differ."}
	ReplicaLacksWrites     = Code{Invalid, "Node %s reports that it applied all writes, but its table lacks %d of them."}
	WriterHasMore          = Code{Invalid, "Node %s also takes writes, and has %d that the reference node lacks."}
	ChecksumsDiffer        = Code{Invalid, "Node %s holds the same writes as the reference node, but other rows: checksums %s and %s."}
	RebuiltLacksWrites     = Code{Invalid, "Node %s was brought back and reports all writes, but lacks %d and has %d of its own."}
	RebuiltChecksumsDiffer = Code{Invalid, "Node %s was brought back and reports all writes, but holds other rows: checksums %s and %s."}
	GhostsDisagree         = Code{Invalid, "Node %s has %d rows of its own (%d writes, %d probe rows) but %d transactions of its own."}
	LogDisagrees           = Code{Invalid, "Node %s held %d writes of its own, but its log has %d such commits since it diverged."}
	NodeNotAudited         = Code{Inconclusive, "The audit could not check node %s: %s."}
	WriterMoved            = Code{Inconclusive, "The audit compared the ledger with node %s, but another failover moved the writes during the audit."}
	WriterUnknown          = Code{Inconclusive, "The audit compared the ledger with node %s. Whether it still took the writes afterwards is unknown."}
	NotAtRest              = Code{Inconclusive, "The nodes had not come to rest before the audit: %s."}
	AuditFailed            = Code{Inconclusive, "The audit could not compare the writes: %s."}
	SentTwice              = Code{Note, "Node %s has %d transactions of its own whose rows other nodes hold too: the proxy sent those writes twice."}
	GhostsUnknown          = Code{Note, "Ghost writes of node %s are unknown: %s."}
	LogUnread              = Code{Note, "Ghost writes of node %s are counted by its rows alone: %s."}
	LogOvertaken           = Code{Note, "Node %s held %d writes of its own and %d log commits. They are not compared, because a failover may have followed."}
	NotBackAfterAudit      = Code{Note, "Not back in place %s after the audit: %s."}
	RecountFailed          = Code{Inconclusive, "The nodes that came back after the audit were not compared: %s."}
	NodeNotRecounted       = Code{Inconclusive, "Node %s came back after the audit and was not compared: %s."}
	LossesUnknown          = Code{Note, "Losses are not reported: %s."}
	NoLosses               = Code{Note, "No acknowledged write was lost (confirmed faults: %d). One run proves little: see docs/how-to/no-loss.md."}
	LossWindowUnclear      = Code{Note, "The loss window of fault %s is unknown: the times do not tell its lost writes from those of other faults."}
	RowsDiverge            = Code{Note, "%d rows differ between the nodes, since both changed them. The results document has samples."}
	WritesMoved            = Code{Note, "The proxy moved the writes between the nodes at least %d times (%d faults). The load may make its checks fail."}
	DivergenceUnknown      = Code{Note, "Divergent rows are not reported: %s."}
	ReplicationStopped     = Code{Note, "Node %s stopped replicating by itself and lacks %d writes of the other node: %s."}
	OneSideOnly            = Code{Note, "Node %s was not read. Writes that it alone holds count as lost, although they may come back with it."}
	NotExchanged           = Code{Clause, "a fault kept the nodes from exchanging their writes, and they were not compared afterwards"}
	ExchangeStopped        = Code{Clause, "%s stopped replicating, and lacks changes of the other node"}
	ExchangeUnfinished     = Code{Clause, "the nodes had not applied all that they sent each other"}
	NotBothRead            = Code{Clause, "one of the nodes could not be read"}
	RelayNotApplied        = Code{Note, "Node %s took over from %s before it had applied %d received transactions. Acknowledged writes among them may be lost."}
	DataDeleted            = Code{Clause, "fault %s deleted its data with its pod"}
	OwnTransactionsUnknown = Code{Clause, "its own transactions cannot be told apart"}
	DataReplaced           = Code{Clause, "it acknowledged writes and holds none of its own, so its data were replaced"}
	DataMadeInLoad         = Code{Clause, "its data were created at %s, during the load; earlier data are gone"}
	DataMadeAtUnknownTime  = Code{Clause, "its data were created at %s by an unmeasured clock, perhaps during the load"}
	WritersUnknown         = Code{Clause, "%d acknowledged writes named no node, and it may have taken some"}
	NoRecorder             = Code{Clause, "the recorder's results are missing"}
	NothingAcknowledged    = Code{Clause, "no write was acknowledged during the load"}
	NothingToLose          = Code{Clause, "no write is known to have been acknowledged in the second before fault %s"}
	Because                = Code{Clause, "%s"}
	OtherWriter            = Code{Clause, "the surviving cluster may have other rows than node %s"}
	RowsUnread             = Code{Clause, "node %s was not read and may hold some of these writes"}
	RowsToCome             = Code{Clause, "node %s may not have applied all that the other members had"}
	RowsDoNotAddUp         = Code{Invalid, "The rows do not add up: %s."}
	GhostsOverlap          = Code{Note, "ghostWrites is unknown: several nodes have ghost writes, and the audit did not tell how many are the same."}
	NoLossWindow           = Code{Note, "No loss window is reported: %s."}
	LossTimes              = Code{Clause, "it rests on two clocks, and the times of lost writes are rounded"}
	LossTimesRounded       = Code{Clause, "their times are known to some milliseconds"}
	GhostsUnknownOf        = Code{Clause, "those of node %s are unknown: %s"}
	NotAudited             = Code{Clause, "the tables were not audited"}
	AuditBroken            = Code{Clause, "the audit failed"}
)

// Degraded replication.
var (
	Degraded                    = Code{Note, "Degraded: %s commits went on without the acknowledgement of a replica."}
	PerhapsDegraded             = Code{Note, "Perhaps degraded: up to %d commits may have gone on without the acknowledgement of a replica."}
	DegradedTimes               = Code{Note, "Node %s may have waited for no standby %s, in all for at least %d ms."}
	DegradedUnknown             = Code{Note, "Degraded commits are not reported: %s."}
	DegradedUncounted           = Code{Note, "Node %s was not sampled for up to %d ms: degradedCommits is a minimum."}
	LostWhileDegraded           = Code{Note, "%s of %d lost writes were acknowledged while the primary may have waited for no standby."}
	NoneLostWhileDegraded       = Code{Note, "None of the %d lost writes was acknowledged while the primary waited for no standby."}
	LostWhileDegradedUnknown    = Code{Note, "Whether the lost writes were acknowledged while degraded is unknown: %s."}
	NeverAwaited                = Code{Note, "No commit waited for a standby (%s): asynchronous replication may lose all %d lost writes."}
	LossTimesUnknown            = Code{Clause, "the times of the lost writes are unknown"}
	UnsampledTime               = Code{Clause, "node %s was not sampled for up to %d ms"}
	CountersUnread              = Code{Clause, "node %s acknowledged writes and its counters were never read"}
	NoWriterKnown               = Code{Clause, "no node is known to have acknowledged a write"}
	CommitsUnaccounted          = Code{Clause, "the recorder did not sample all commits"}
	FlushedTogether             = Code{Clause, "commits that are flushed together wait once"}
	CounterDeleted              = Code{Clause, "fault %s deleted the pod that counted it"}
	PeerDeleted                 = Code{Clause, "fault %s deleted the pod that it was sent to: the first bytes to its successor are not counted"}
	Sampled                     = Code{Clause, "it is sampled"}
	CountersPerhapsUnread       = Code{Clause, "node %s may have acknowledged writes and its counters were never read"}
	PerhapsDegradedTransactions = Code{Note, "Perhaps degraded: up to %d transactions may have been committed while the primary waited for no standby."}
	DegradedTransactions        = Code{Note, "Degraded: %s transactions were committed while the primary waited for no standby."}
)

// Load.
var (
	GoalMissed            = Code{Failed, "Goal %s (%s) was missed: measured %s."}
	GoalUnknown           = Code{Inconclusive, "Goal %s (%s) is unknown: %s."}
	StagesDiffer          = Code{Inconclusive, "Stage %s: k6 counts %d requests (%d failed), the recorder %d (%d failed)."}
	ScriptCountsDiffer    = Code{Inconclusive, "k6 counts %d requests (%d failed), the recorder %d (%d failed). The script may ask other hosts too."}
	NeverSent             = Code{Note, "%d requests were never sent, because all users were busy: p99 and maximum latency are minimums."}
	ManyFailed            = Code{Note, "%d of %d requests failed: requestsPerSecond counts the others, and high latency percentiles are minimums."}
	RecorderPaused        = Code{Note, "The recorder stood still for %d of %d ms, when about %d of %d requests came: high percentiles are not exact."}
	RecorderPausedInStage = Code{Note, "Stage %s: the recorder stood still for %d of %d ms."}
	StageCut              = Code{Note, "Stage %s received requests for %d ms instead of %d ms: its requestsPerSecond covers that time."}
	AnsweredLate          = Code{Note, "Stage %s: %d of %d requests were answered after its end and are not in requestsPerSecond."}
	StageEmpty            = Code{Note, "Stage %s had no request, so it has no figures."}
	StagesUnnamed         = Code{Note, "%d requests named no stage. They count for the stage that was planned when they arrived."}
	ClosedLoopBroken      = Code{Note, "Stage %s: throughput x iteration time / users is %.4f, outside 1 ± 0.01: users were idle, or recorder or k6 is wrong."}
	StaleReadsNoRead      = Code{Note, "Stale reads are not reported: no acknowledged user was read."}
	StaleReadsUnclear     = Code{Note, "Stale reads are not reported: reads of lost users look the same, and not all lost users are known."}
	RecorderRestarted     = Code{Note, "The recorder restarted %d time(s): writes without a recorded outcome count as indeterminate."}
	PathRestarted         = Code{Note, "Container %s of pod %s %s during the load, without a fault. Failures then may not be the databases'."}
	NotCompared           = Code{Note, "Not compared with %s: %s."}
	ThroughputNotCompared = Code{Note, "The throughput is not compared with %s: %s."}
	NotMeasured           = Code{Clause, "it was not measured"}
	MeasuredMinimum       = Code{Clause, "the measured %s is a minimum, because %s"}
	MeasuredMaximum       = Code{Clause, "the measured %s is a maximum, because %s"}
	MeasuredBetween       = Code{Clause, "it is between %s and %s, because %s"}
	MeasuredDoubtful      = Code{Clause, "the measured %s is unreliable, because %s"}
	PathWasAway           = Code{Clause, "the app or a proxy was away for a part of the load"}
	DroppedUnknown        = Code{Clause, "how many requests were never sent is unknown"}
	WereDropped           = Code{Clause, "%d requests were never sent"}
	TooManyFailed         = Code{Clause, "%d of %d requests failed, more than the %d%% that it leaves out"}
	LostReadersStale      = Code{Clause, "reads of users that were lost later may have been stale"}
	GoalNotCompared       = Code{Clause, "this run is not compared with the baseline: %s"}
	NothingToCompare      = Code{Clause, "this run or the baseline did not measure it, or the baseline's value may be 0"}
	PartOfBaselineOpen    = Code{Clause, "the measured value is %s of the baseline's, but not exact, because %s"}
	NotMeasuredBecause    = Code{Clause, "it was not measured, because %s"}
	PartOfLoad            = Code{Clause, "the recorder saw a part of the load only: %s"}
	LoadCutShort          = Code{Note, "The figures of the load are of the part until the run was ended. Its writes were not compared with the tables."}
	LoadUnknown           = Code{Note, "The load has no figures: the recorder left no results before the run was ended."}
	LoadUntrusted         = Code{Note, "The load has no figures, because the recorder failed. The results document has what it saw."}
	NoGoals               = Code{Passed, "Everything was measured; the experiment sets no goals."}
	GoalMet               = Code{Passed, "The goal was met."}
	GoalsMet              = Code{Passed, "All %d goals were met."}
)

// Lag.
var (
	LagNotReported    = Code{Note, "Lag is not reported: no replica was to show a probe row of a stage that counts (%d such rows, %d others)."}
	RowsUnseen        = Code{Note, "Node %s had not shown %d probe rows when the probe ended, the oldest after %d ms: its lag is a minimum."}
	RowsApart         = Code{Note, "%d probe rows waited on the other primary when the writes had moved: they have no lag here."}
	ProbeHardlyWrote  = Code{Note, "The lag probe wrote %d of %d rows that were due. The lag is of these."}
	RowsSetApart      = Code{Clause, "%d of %d probe rows had not reached a replica when the writes moved"}
	RowsLost          = Code{Note, "%d probe rows never reached a replica and were lost with their primary: they have no lag."}
	ReplicaOverlooked = Code{Note, "Node %s was a replica again, but the probe did not see it follow: the lag is a minimum."}
	FormerPrimaryAway = Code{Note, "Node %s (a former primary) was not yet a replica for %d of %d probe rows: its lag omits them."}
	UnwatchedAtMost   = Code{Note, "No replica was there for %d of %d probe rows: the longest lag is at most %d µs."}
	Unwatched         = Code{Note, "No replica was there for %d of %d probe rows: percentiles that leave out fewer are minimums."}
	RowsUnwatched     = Code{Clause, "no replica was there for %d of %d probe rows"}
	FollowingUnseen   = Code{Clause, "the probe did not see node %s follow again"}
	RowsNotShown      = Code{Clause, "node %s had not shown %d probe rows"}
	RecorderSlept     = Code{Clause, "the recorder stood still"}
	NodeBehind        = Code{Clause, "the node had not shown all probe rows, or the recorder stood still"}
)

// Outages.
var (
	FaultTimeUnknown    = Code{Note, "The time of fault %s is unknown, because its clock was not measured. Any silence may be its outage."}
	OutageEndless       = Code{Note, "No write was acknowledged after fault %s: its outage of %d ms is a minimum."}
	OutageCut           = Code{Note, "The outage of fault %s lasted until the next fault: its %d ms end there, and the rest counts for that fault."}
	OutageUncertain     = Code{Note, "The outage of fault %s is between %d and %d ms: the recorder stood still, or clocks differ."}
	SilenceEndless      = Code{Note, "No write was acknowledged at the end of the load: the longest silence of %d ms is a minimum."}
	SilenceUncertain    = Code{Note, "The longest silence is between %d and %d ms: the recorder stood still in it."}
	SilenceBeforeFaults = Code{Note, "No write was acknowledged for %d ms before the first fault, longer than after any fault. No fault caused that."}
	FailoverUnknown     = Code{Note, "The failover is not reported: %s."}
	RoutingUnknown      = Code{Note, "The failover to %s has no routing time: it took writes while its group still counted %s."}
	PhasesUnknown       = Code{Note, "The phases of the failover from %s to %s are not reported: %s."}
	RestartedInPlace    = Code{Note, "Node %s lost its server%s and was primary again at %s (its clock): an outage, no failover."}
	MoreRestartsInPlace = Code{Note, "Nodes restarted in place %d more times than restartsInPlace lists."}
	PausedOrClocks      = Code{Clause, "the recorder stood still, or clocks differ"}
	OtherFailover       = Code{Clause, "none of the reported failovers is this one for certain. The last: %s"}
	NodeSilent          = Code{Clause, "%s did not answer when the run was judged"}
	MayHaveTakenOver    = Code{Clause, "%s, and may have taken over for longer"}
	SideBySide          = Code{Clause, "%s, and clients may have written to %s and %s side by side after a switchover"}
	TwoClocks           = Code{Clause, "it rests on two clocks"}
	NotEnded            = Code{Clause, "it had not ended when the probe did"}
	WritesUnnamed       = Code{Clause, "%d acknowledged writes named no node"}
	FailoverDecided     = Code{Clause, "from %s to %s, decided at %s by the clock of %s"}
	FailoverCarriedOut  = Code{Clause, "from %s to %s, decided at %s and carried out at %s by the clock of %s"}
	NoFailoverReported  = Code{Clause, "the topology reports no failover"}
)

// Rejoin.
var (
	RejoinUnknown             = Code{Note, "The time until %s was back after fault %s is not reported: %s."}
	FaultNotConfirmed         = Code{Clause, "the fault is not confirmed"}
	TopologyUnknown           = Code{Clause, "the topology did not answer"}
	FaultClockUnknown         = Code{Clause, "the clock of the fault was not measured"}
	HoldEndUnknown            = Code{Clause, "the end of its hold is unknown"}
	DidNotLeave               = Code{Clause, "the topology did not see it leave for this fault alone"}
	NotBack                   = Code{Clause, "it was not back when the run was judged"}
	ClockUnknown              = Code{Clause, "the clock of %s was never measured"}
	BackTooSoon               = Code{Clause, "it was back before the fault ended"}
	ClocksTooFar              = Code{Clause, "the clocks of %s and %s differ too much"}
	MayHaveTakenOverMeanwhile = Code{Clause, "%s, and may have taken over meanwhile"}
)

// Faults.
var (
	FaultEndedEarly    = Code{Inconclusive, "Fault %s on pod %s ended early: %s."}
	FaultEndedLate     = Code{Inconclusive, "Fault %s on pod %s ended late: %s."}
	FaultLeaked        = Code{Inconclusive, "Fault %s did not cut pod %s off from everything that it should: %s."}
	FaultUnconfirmed   = Code{Inconclusive, "Fault %s on pod %s is not confirmed: %s."}
	FaultLate          = Code{Inconclusive, "Fault %s on pod %s came %s late, under another load than planned."}
	FaultEarly         = Code{Inconclusive, "Fault %s on pod %s came %s early, under another load than planned."}
	ServerEnded        = Code{Inconclusive, "Container %s of pod %s %s during the load, without a fault."}
	ServerPerhapsEnded = Code{Note, "Container %s of pod %s %s during the load, perhaps because of fault %s elsewhere."}
	FaultInOtherStage  = Code{Inconclusive, "Fault %s on pod %s came %d ms %s its time, in %s instead of %s."}
)

// Distance.
var (
	LinksNotSet           = Code{Inconclusive, "topology.links were not put into effect."}
	LinkUnmeasured        = Code{Inconclusive, "The link from %s to %s was not measured: no two pods are at its ends."}
	TripUnmeasured        = Code{Inconclusive, "The round trip from %s to %s was not measured %s: %s."}
	TripWrong             = Code{Inconclusive, "The round trip from %s to %s was %d µs %s, instead of %d µs."}
	ReplacementUnlinked   = Code{Inconclusive, "A node's pod was replaced, and not all links of the new pod were set."}
	ReplacementLinkedLate = Code{Inconclusive, "A node's replacement pod ran for up to %d ms before all its links were set."}
	LinkProblem           = Code{Inconclusive, "The links of %s failed: %s."}
	LinkResultUnknown     = Code{Inconclusive, "What the links of %s delayed is unknown."}
	PacketsDropped        = Code{Inconclusive, "%d packets that were to be delayed at %s were dropped: the queue was full, or the kernel discarded them."}
	NothingDelayed        = Code{Inconclusive, "No packet was delayed at %s, though it has links."}
	PacketsLate           = Code{Inconclusive, "Stage %s: %d of %d delayed packets reached %s late; %d were held up %d ms or more too long."}
	PacketsLateOnAverage  = Code{Inconclusive, "Stage %s: packets to %s were late by %d µs on average, with a delay of %d µs."}
	PacketsLateUnknown    = Code{Inconclusive, "How many packets reached %s late is unknown in stage %s: its agent did not answer."}
	LinksNotSetInStage    = Code{Inconclusive, "The links of %s were not set after the stages without distance."}
	LinkTimeUnknown       = Code{Inconclusive, "The time at which the links of %s were set is unknown: its clock was not measured."}
	LinksSetInOtherStage  = Code{Inconclusive, "The links of %s were set from %s to %s (its clock), perhaps outside stage %s: another stage may have had a wrong distance."}
	LinksResetForPod      = Code{Note, "The links of %s were set again %d time(s) for replaced pods, last at setTime. The new pods had no delay before."}
	SomePacketsLate       = Code{Note, "%d of %d delayed packets reached %s late, by up to %d µs."}
	BaseStageOverlaps     = Code{Note, "Stage %s is not the base without distance: links may have been set before its last request ended."}
	NoBound               = Code{Note, "The throughput is not compared with the distance: %s."}
	NoBoundInStage        = Code{Note, "The throughput of stage %s is not compared with the distance: %s."}
	NoBase                = Code{Clause, "no stage, baseline or read tells the latency without distance"}
	NoWait                = Code{Clause, "no commit waits for another node"}
	NoWaitAtDistance      = Code{Clause, "no commit waits for a node at a distance"}
	OwnScript             = Code{Clause, "a custom script may wait for other things"}
	WriterElsewhere       = Code{Clause, "another node took over, at another distance"}
	AppFar                = Code{Clause, "the app is at a distance from nodes, and the number of round trips of a request is unknown"}
	WaitsUnknown          = Code{Clause, "whether commits waited for an acknowledgement is unknown"}
	DidNotWait            = Code{Clause, "%d commits did not wait for an acknowledgement"}
	ChosenStandbyUnknown  = Code{Clause, "which standby commits waited for is unknown"}
	NodeAway              = Code{Clause, "node %s was away"}
	NodeAwayByFault       = Code{Clause, "fault %s may have kept node %s away"}
	NodeAwaySinceUnknown  = Code{Clause, "node %s is away since an unknown time"}
	PodReplaced           = Code{Clause, "the links of %s were set again for a pod that was replaced at an unknown time"}
	LateInStage           = Code{Clause, "%d of %d delayed packets reached %s late in it"}
	LateOnAverageInStage  = Code{Clause, "packets to %s were late by %d µs on average in it"}
	LateOfRequests        = Code{Clause, "%d delayed packets were late in %d requests, and may have lengthened it"}
	LateOfPackets         = Code{Clause, "%d of %d delayed packets were late, and may have lengthened it"}
	LateInStageUnknown    = Code{Clause, "how many packets reached %s late in it is unknown"}
	PairUnmeasured        = Code{Inconclusive, "Link from %s to %s: the round trip from %s to %s was not measured."}
	TripNeverMeasured     = Code{Inconclusive, "The round trip from %s to %s was not measured %s."}
	StageTimeUnknown      = Code{Clause, "when it ran is unknown, and %s for a time"}
	AbsencesUnknown       = Code{Clause, "the topology did not report when nodes were away"}
	LinksNotInEffect      = Code{Clause, "topology.links were not put into effect"}
	StandbysDiffer        = Code{Clause, "commits waited for standbys at different distances"}
	StandbyNear           = Code{Clause, "commits waited for no node at a distance"}
	NoDistance            = Code{Clause, "no link delays packets"}
	WaitsUnsampled        = Code{Clause, "whether commits waited is unknown, because %s"}
	StagePart             = Code{Clause, "%s (for up to %d ms)"}
	WaitsPerhaps          = Code{Clause, "whether up to %d commits waited for an acknowledgement is unknown"}
)

// Group.
var (
	GroupUnknown      = Code{Note, "The counters of the group are not reported: %s."}
	ConflictsUnknown  = Code{Note, "Conflicts are not reported: node %s may have taken writes, and its counters were never read."}
	ConflictsMinimum  = Code{Note, "Conflicts are a minimum: node %s was not sampled for up to %d ms."}
	GroupUnsampled    = Code{Note, "The counters of node %s were not sampled for %d of %d ms: flow control and queue then are unknown."}
	NoWriteSent       = Code{Clause, "the load sent no write"}
	MembersUnread     = Code{Clause, "no member could be read during the load"}
	MemberUnsampled   = Code{Clause, "a server was not sampled for a part of the time"}
	MaximumSinceStart = Code{Clause, "the server reports its maximum since its start"}
	MemberUnread      = Code{Clause, "the counters of node %s could not be read"}
)

// Settings.
var (
	SettingDiffers          = Code{Invalid, "Node %s ran with %s = %s; the spec says %s."}
	SettingChanged          = Code{Invalid, "Node %s ended with %s = %s; it was %s when the load began."}
	SameIdentity            = Code{Invalid, "Nodes %s and %s have the same server identity (%s), so replication cannot tell them apart."}
	SettingsUnread          = Code{Inconclusive, "The settings of the servers were not read."}
	NodeSettingsUnread      = Code{Inconclusive, "The settings of node %s were not read before the load: %s."}
	NodeSettingsUnreadAfter = Code{Inconclusive, "The settings of node %s were not read after the load: %s."}
	SettingUnknown          = Code{Inconclusive, "Node %s does not report its %s, which should be %s."}
	SettingNeeded           = Code{Inconclusive, "Node %s does not report its %s, which decides what is measured."}
	ImagesDiffer            = Code{Inconclusive, "%s"}
)

// Instruments.
var (
	TopologySilent     = Code{Inconclusive, "The topology did not answer: %s."}
	RecorderFailed     = Code{Inconclusive, "The recorder failed: %s."}
	RecorderIncomplete = Code{Inconclusive, "The recorder's figures are incomplete: %s."}
	BusierThanServers  = Code{Note, "%s used %.2f CPU, and all servers together %.2f: a difference between topologies may be hidden."}
	ClockDiffers       = Code{Note, "The clock of %s may differ from the recorder's by %d ms: comparisons with its times allow for that."}
	ClockStepped       = Code{Note, "The clock of %s was set by %d ms during the run, or belongs to another machine since: its times are ambiguous."}
	ResultsNotKept     = Code{Note, "The results could not be kept: %v."}
	EvidenceMissing    = Code{Inconclusive, "%s"}
)

// Comparison.
var (
	BaselineEmpty          = Code{Clause, "the baseline has no figures: run it first, in this namespace"}
	BaselineOtherwise      = Code{Clause, "the baseline was measured otherwise: spec.%s must be the same in both"}
	BaselineFailed         = Code{Clause, "nothing succeeded in the baseline: its throughput is 0"}
	LoadEmpty              = Code{Clause, "this experiment has no figures of its load"}
	RunUnreliable          = Code{Clause, "%s's verdict is %s: its figures cannot be relied on"}
	ScriptUnknown          = Code{Clause, "what was in the script of one of the two is not known"}
	ScriptsDiffer          = Code{Clause, "the baseline was measured otherwise: what is in the script of spec.load.script must be the same in both"}
	MachinesUnknown        = Code{Clause, "which machines %s ran on is not known"}
	MachinesUnknownBecause = Code{Clause, "which machines %s ran on is not known: %s"}
	MachinesDiffer         = Code{Clause, "the machines differ: %s here, %s in the baseline"}
	DurabilityDiffers      = Code{Clause, "durability is %s here and %s in the baseline"}
	DurabilityDiffersToo   = Code{Clause, "durability is %s here and %s in the baseline, and the topology differs too, so a difference could come from either"}
	StorageDiffersToo      = Code{Clause, "spec.topology.storage differs, and the topology differs too, so a difference could come from either"}
	FieldDiffers           = Code{Clause, "spec.%s differs"}
	FieldDiffersToo        = Code{Clause, "spec.%s differs too"}
	DistancesDiffer        = Code{Clause, "the distances differ: %s here, %s in the baseline"}
	OtherThen              = Code{Clause, "%s was %s here and %s in the baseline"}
	Anecdote               = Code{Clause, "one run each: an anecdote, without an interval"}
	ThroughputNotExact     = Code{Clause, "the throughput %s is not compared, since %s"}
	DifferenceTooLarge     = Code{Clause, "the throughput is not compared: the difference is too large to be stated"}
	P99Doubtful            = Code{Clause, "the p99 %s cannot be relied on, since %s"}
	P99Upper               = Code{Clause, "the p99 %s is an upper bound, since %s"}
	P99Lower               = Code{Clause, "the p99 %s is a lower bound, since %s"}
	RecorderNotAlways      = Code{Clause, "the recorder itself did not always run"}
	RecorderDidNotRun      = Code{Clause, "the recorder itself did not run for %d of %d ms"}
	NotSampled             = Code{Clause, "it ran no server or did not answer for %d ms"}
	LoopBroken             = Code{Clause, "in stage %s the clients' requests do not add up to the users that there were"}
)
