package load

import (
	"slices"

	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/finding"
	"replab.dev/internal/wire"
)

func dropped(status *evidence.Status) []finding.Finding {
	if status.Load == nil || status.Load.DroppedIterations == nil || *status.Load.DroppedIterations == 0 {
		return nil
	}
	return []finding.Finding{finding.Of(finding.NeverSent, *status.Load.DroppedIterations)}
}

func recorderRestarted(e evidence.Run) []finding.Finding {
	if e.Recorder == nil || e.Recorder.Restarts == 0 {
		return nil
	}
	return []finding.Finding{finding.Of(finding.RecorderRestarted, e.Recorder.Restarts)}
}

// someFailed warns of figures that many failed requests make hard to read.
func someFailed(status *evidence.Status) []finding.Finding {
	l := status.Load
	if l == nil || l.Failures*100 <= l.Requests {
		return nil
	}
	return []finding.Finding{finding.Of(finding.ManyFailed, l.Failures, l.Requests)}
}

// windowsCut warns of stages whose throughput is not that of the time that was asked for.
func windowsCut(e evidence.Run, status *evidence.Status) []finding.Finding {
	if status.Load == nil {
		return nil
	}
	var found []finding.Finding
	for _, asked := range e.Spec.Load.Stages {
		for _, s := range status.Load.Stages {
			if s.Name != asked.Name || asked.Discard || s.DurationMilliseconds == nil {
				continue
			}
			planned, lasted := asked.DurationSeconds*1000, *s.DurationMilliseconds
			if lasted < planned*95/100 || lasted > planned*105/100 {
				found = append(found, finding.Of(finding.StageCut, s.Name, lasted, planned))
			}
		}
	}
	return found
}

// answeredLate warns of stages whose throughput has no part of many requests, since their answers came after its end.
func answeredLate(e evidence.Run, status *evidence.Status) []finding.Finding {
	if status.Load == nil {
		return nil
	}
	var found []finding.Finding
	for _, s := range e.Recorder.Stages {
		if late := s.Requests - s.Answered; !s.Discarded && s.DurationMicroseconds > 0 && late*20 > s.Requests {
			found = append(found, finding.Of(finding.AnsweredLate, s.Name, late, s.Requests))
		}
	}
	return found
}

// stagesEmpty says why a stage has no figures.
func stagesEmpty(e evidence.Run, status *evidence.Status) []finding.Finding {
	if status.Load == nil {
		return nil
	}
	var found []finding.Finding
	for _, s := range status.Load.Stages {
		if s.Requests == 0 && !atRest(e, s.Name) {
			found = append(found, finding.Of(finding.StageEmpty, s.Name))
		}
	}
	return found
}

// stagesUnnamed says what the stages are when the load does not tell.
func stagesUnnamed(e evidence.Run, status *evidence.Status) []finding.Finding {
	if status.Load == nil {
		return nil
	}
	var unnamed int64
	for _, s := range e.Recorder.Stages {
		unnamed += s.Unnamed
	}
	if unnamed == 0 {
		return nil
	}
	return []finding.Finding{finding.Of(finding.StagesUnnamed, unnamed)}
}

// clientDisagrees compares k6's count of successful registers with the ledger. k6 gives requests up at the end of a
// stage whose answers it then does not count: at most one per user.
func clientDisagrees(e evidence.Run) []finding.Finding {
	if e.K6 == nil || !e.K6.RegisteredKnown || e.Recorder == nil || e.Recorder.Incomplete != "" {
		return nil
	}
	var underWay int64
	for _, s := range e.Spec.Load.Stages {
		underWay += max(s.ClosedUsers(), s.MaxUsers)
		if s.RequestsPerSecond > 0 && s.MaxUsers == 0 {
			underWay += 100
		}
	}
	ledger, client := e.Recorder.Writes.Acknowledged, e.K6.Registered
	if client <= ledger && ledger-client <= underWay {
		return nil
	}
	return []finding.Finding{finding.Of(finding.ClientsDiffer, client, ledger, underWay)}
}

// counted is what an instrument counted.
type counted struct{ requests, failures int64 }

// instrumentsDiffer holds the recorder against k6, stage by stage: a request that never reached the recorder is none of its
// figures.
func instrumentsDiffer(e evidence.Run) []finding.Finding {
	if e.K6 == nil || e.Recorder == nil || e.Recorder.Incomplete != "" {
		return nil
	}
	if e.Spec.Load.Script != nil {
		return scriptDiffers(*e.K6, e.Recorder.Stages)
	}
	var found []finding.Finding
	for _, w := range e.Recorder.Stages {
		var k wire.K6StageSummary // of a stage that k6 does not tell of it counts nothing
		if i := slices.IndexFunc(e.K6.Stages, func(k wire.K6StageSummary) bool { return k.Name == w.Name }); i >= 0 {
			k = e.K6.Stages[i]
		}
		if differ(counted{k.Requests, k.FailedRequests}, counted{w.Requests, w.Failures}, givenUp(w)) {
			found = append(found, finding.Of(finding.StagesDiffer, w.Name, k.Requests, k.FailedRequests, w.Requests, w.Failures))
		}
	}
	return found
}

// scriptDiffers compares the totals, since a user's own script has stages of its own. It may also count more failures than the recorder.
func scriptDiffers(k wire.K6Summary, stages []wire.StageResult) []finding.Finding {
	var w counted
	var up int64
	for _, s := range stages {
		w.requests, w.failures, up = w.requests+s.Requests, w.failures+s.Failures, up+givenUp(s)
	}
	own := counted{k.Requests, k.FailedRequests}
	if !beyond(own.requests, w.requests, up) && !apart(own.failures-w.failures, own.failures) {
		return nil
	}
	return []finding.Finding{finding.Of(finding.ScriptCountsDiffer, own.requests, own.failures, w.requests, w.failures)}
}

// givenUp is how many requests of a stage k6 may have given up and not counted. It does so when a stage has ended, so they
// are among those that the recorder saw end after that; of the last stage of a load that names none, after the last arrival.
func givenUp(w wire.StageResult) int64 {
	if w.DurationMicroseconds == 0 {
		return w.Trailing
	}
	return max(w.Requests-w.Answered, w.Trailing)
}

func differ(k6, recorder counted, givenUp int64) bool {
	return beyond(k6.requests, recorder.requests, givenUp) || beyond(k6.failures, recorder.failures, givenUp)
}

// beyond tells whether two counts differ by more than the recorder may have counted alone.
func beyond(k6, recorder, alone int64) bool {
	if recorder > k6 {
		return apart(recorder-k6-alone, recorder)
	}
	return apart(k6-recorder, k6)
}

// apart tells whether a difference is more than 0.1% of a count, and at least 3.
func apart(difference, count int64) bool { return difference >= 3 && difference*1000 > count }
