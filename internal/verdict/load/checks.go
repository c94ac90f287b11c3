package load

import (
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/finding"
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
func stagesEmpty(status *evidence.Status) []finding.Finding {
	if status.Load == nil {
		return nil
	}
	var found []finding.Finding
	for _, s := range status.Load.Stages {
		if s.Requests == 0 {
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
