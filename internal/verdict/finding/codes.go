package finding

// Writes.
const (
	DuplicateWrites        Code = "DuplicateWrites"
	UnexpectedWrites       Code = "UnexpectedWrites"
	SetsDoNotAddUp         Code = "SetsDoNotAddUp"
	LedgersDiffer          Code = "LedgersDiffer"
	ClientsDiffer          Code = "ClientsDiffer"
	ReplicaLacksWrites     Code = "ReplicaLacksWrites"
	WriterHasMore          Code = "WriterHasMore"
	ChecksumsDiffer        Code = "ChecksumsDiffer"
	RebuiltLacksWrites     Code = "RebuiltLacksWrites"
	RebuiltChecksumsDiffer Code = "RebuiltChecksumsDiffer"
	GhostsDisagree         Code = "GhostsDisagree"
	LogDisagrees           Code = "LogDisagrees"
	NodeNotAudited         Code = "NodeNotAudited"
	ReferenceNotAudited    Code = "ReferenceNotAudited"
	WriterMoved            Code = "WriterMoved"
	WriterUnknown          Code = "WriterUnknown"
	NotAtRest              Code = "NotAtRest"
	AuditFailed            Code = "AuditFailed"
	SentTwice              Code = "SentTwice"
	GhostsUnknown          Code = "GhostsUnknown"
	LogUnread              Code = "LogUnread"
	LogOvertaken           Code = "LogOvertaken"
	RecountFailed          Code = "RecountFailed"
	NodeNotRecounted       Code = "NodeNotRecounted"
	LossesUnknown          Code = "LossesUnknown"
	NoLosses               Code = "NoLosses"
	LossWindowUnclear      Code = "LossWindowUnclear"
	RelayNotApplied        Code = "RelayNotApplied"
	DataDeleted            Code = "DataDeleted"
	OwnTransactionsUnknown Code = "OwnTransactionsUnknown"
	DataReplaced           Code = "DataReplaced"
	DataMadeInLoad         Code = "DataMadeInLoad"
	DataMadeAtUnknownTime  Code = "DataMadeAtUnknownTime"
	WritersUnknown         Code = "WritersUnknown"
	NoRecorder             Code = "NoRecorder"
	NothingAcknowledged    Code = "NothingAcknowledged"
	NothingToLose          Code = "NothingToLose"
)

// Degraded replication.
const (
	Degraded                 Code = "Degraded"
	PerhapsDegraded          Code = "PerhapsDegraded"
	DegradedTimes            Code = "DegradedTimes"
	DegradedUnknown          Code = "DegradedUnknown"
	DegradedUncounted        Code = "DegradedUncounted"
	LostWhileDegraded        Code = "LostWhileDegraded"
	NoneLostWhileDegraded    Code = "NoneLostWhileDegraded"
	LostWhileDegradedUnknown Code = "LostWhileDegradedUnknown"
	NeverAwaited             Code = "NeverAwaited"
	LossTimesUnknown         Code = "LossTimesUnknown"
	UnsampledTime            Code = "UnsampledTime"
	CountersUnread           Code = "CountersUnread"
	NoWriterKnown            Code = "NoWriterKnown"
	CommitsUnaccounted       Code = "CommitsUnaccounted"
)

// Load.
const (
	GoalMissed            Code = "GoalMissed"
	GoalUnknown           Code = "GoalUnknown"
	StagesDiffer          Code = "StagesDiffer"
	ScriptCountsDiffer    Code = "ScriptCountsDiffer"
	NeverSent             Code = "NeverSent"
	ManyFailed            Code = "ManyFailed"
	RecorderPaused        Code = "RecorderPaused"
	RecorderPausedInStage Code = "RecorderPausedInStage"
	StageCut              Code = "StageCut"
	AnsweredLate          Code = "AnsweredLate"
	StageEmpty            Code = "StageEmpty"
	StagesUnnamed         Code = "StagesUnnamed"
	ClosedLoopBroken      Code = "ClosedLoopBroken"
	StaleReadsNoRead      Code = "StaleReadsNoRead"
	StaleReadsUnclear     Code = "StaleReadsUnclear"
	RecorderRestarted     Code = "RecorderRestarted"
	PathRestarted         Code = "PathRestarted"
	NotCompared           Code = "NotCompared"
	ThroughputNotCompared Code = "ThroughputNotCompared"
	NotMeasured           Code = "NotMeasured"
	MeasuredMinimum       Code = "MeasuredMinimum"
	MeasuredBetween       Code = "MeasuredBetween"
	MeasuredDoubtful      Code = "MeasuredDoubtful"
	PathWasAway           Code = "PathWasAway"
	ClosedLoopContradicts Code = "ClosedLoopContradicts"
	DroppedUnknown        Code = "DroppedUnknown"
	WereDropped           Code = "WereDropped"
	TooManyFailed         Code = "TooManyFailed"
	RecorderStoodStill    Code = "RecorderStoodStill"
	LossesOfSomeFaults    Code = "LossesOfSomeFaults"
	LostReadersStale      Code = "LostReadersStale"
)

// Lag.
const (
	LagNotReported   Code = "LagNotReported"
	RowsUnseen       Code = "RowsUnseen"
	RowsLost         Code = "RowsLost"
	NoReplicaWatched Code = "NoReplicaWatched"
)

// Outages.
const (
	FaultTimeUnknown    Code = "FaultTimeUnknown"
	OutageEndless       Code = "OutageEndless"
	OutageCut           Code = "OutageCut"
	OutageUncertain     Code = "OutageUncertain"
	SilenceEndless      Code = "SilenceEndless"
	SilenceUncertain    Code = "SilenceUncertain"
	SilenceBeforeFaults Code = "SilenceBeforeFaults"
	FailoverUnknown     Code = "FailoverUnknown"
	RoutingUnknown      Code = "RoutingUnknown"
	PhasesUnknown       Code = "PhasesUnknown"
	RestartedInPlace    Code = "RestartedInPlace"
	MoreRestartsInPlace Code = "MoreRestartsInPlace"
	NotEndedOrUneven    Code = "NotEndedOrUneven"
	PausedOrClocks      Code = "PausedOrClocks"
	OtherFailover       Code = "OtherFailover"
	NodeSilent          Code = "NodeSilent"
	MayHaveTakenOver    Code = "MayHaveTakenOver"
	SideBySide          Code = "SideBySide"
)

// Rejoin.
const (
	RejoinUnknown     Code = "RejoinUnknown"
	FaultNotConfirmed Code = "FaultNotConfirmed"
	TopologyUnknown   Code = "TopologyUnknown"
	FaultClockUnknown Code = "FaultClockUnknown"
	HoldEndUnknown    Code = "HoldEndUnknown"
	DidNotLeave       Code = "DidNotLeave"
	NotBack           Code = "NotBack"
	ClockUnknown      Code = "ClockUnknown"
	BackTooSoon       Code = "BackTooSoon"
	ClocksTooFar      Code = "ClocksTooFar"
)

// Faults.
const (
	FaultEndedEarly   Code = "FaultEndedEarly"
	FaultEndedLate    Code = "FaultEndedLate"
	FaultLeaked       Code = "FaultLeaked"
	FaultUnconfirmed  Code = "FaultUnconfirmed"
	FaultLate         Code = "FaultLate"
	FaultEarly        Code = "FaultEarly"
	FaultInOtherStage Code = "FaultInOtherStage"
)

// Distance.
const (
	LinksNotSet           Code = "LinksNotSet"
	ClientReplaced        Code = "ClientReplaced"
	LinkUnmeasured        Code = "LinkUnmeasured"
	TripUnmeasured        Code = "TripUnmeasured"
	TripWrong             Code = "TripWrong"
	AgentRestarted        Code = "AgentRestarted"
	ReplacementUnlinked   Code = "ReplacementUnlinked"
	ReplacementLinkedLate Code = "ReplacementLinkedLate"
	LinkProblem           Code = "LinkProblem"
	LinkResultUnknown     Code = "LinkResultUnknown"
	PacketsDropped        Code = "PacketsDropped"
	NothingDelayed        Code = "NothingDelayed"
	PacketsLate           Code = "PacketsLate"
	PacketsLateUnknown    Code = "PacketsLateUnknown"
	LinksNotSetInStage    Code = "LinksNotSetInStage"
	LinkTimeUnknown       Code = "LinkTimeUnknown"
	LinksSetInOtherStage  Code = "LinksSetInOtherStage"
	LinksResetForPod      Code = "LinksResetForPod"
	LinkAgentReplaced     Code = "LinkAgentReplaced"
	SomePacketsLate       Code = "SomePacketsLate"
	BaseStageOverlaps     Code = "BaseStageOverlaps"
	NoBound               Code = "NoBound"
	NoBoundInStage        Code = "NoBoundInStage"
	NoBase                Code = "NoBase"
	NoWait                Code = "NoWait"
	NoWaitAtDistance      Code = "NoWaitAtDistance"
	OwnScript             Code = "OwnScript"
	WriterElsewhere       Code = "WriterElsewhere"
	AppFar                Code = "AppFar"
	WaitsUnknown          Code = "WaitsUnknown"
	DidNotWait            Code = "DidNotWait"
	ChosenStandbyUnknown  Code = "ChosenStandbyUnknown"
	NodeAway              Code = "NodeAway"
	NodeAwayByFault       Code = "NodeAwayByFault"
	NodeAwaySinceUnknown  Code = "NodeAwaySinceUnknown"
	PodReplaced           Code = "PodReplaced"
	LateInStage           Code = "LateInStage"
	LateInStageUnknown    Code = "LateInStageUnknown"
)

// Group.
const (
	GroupUnknown     Code = "GroupUnknown"
	ConflictsUnknown Code = "ConflictsUnknown"
	ConflictsMinimum Code = "ConflictsMinimum"
	GroupUnsampled   Code = "GroupUnsampled"
	NoWriteSent      Code = "NoWriteSent"
	MembersUnread    Code = "MembersUnread"
)

// Settings.
const (
	SettingDiffers     Code = "SettingDiffers"
	SettingChanged     Code = "SettingChanged"
	SameIdentity       Code = "SameIdentity"
	SettingsUnread     Code = "SettingsUnread"
	NodeSettingsUnread Code = "NodeSettingsUnread"
	SettingUnknown     Code = "SettingUnknown"
	SettingNeeded      Code = "SettingNeeded"
	ImagesDiffer       Code = "ImagesDiffer"
)

// Instruments.
const (
	TopologySilent     Code = "TopologySilent"
	RecorderFailed     Code = "RecorderFailed"
	RecorderIncomplete Code = "RecorderIncomplete"
	ClockDiffers       Code = "ClockDiffers"
	ClockStepped       Code = "ClockStepped"
)
