package director

import (
	"cmp"
	"fmt"
	"time"

	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

// detectFailure begins a failover when the primary is lost and a replica can take its place.
func detectFailure(s *situation) bool {
	if !s.state.Opened || !s.state.Configured {
		return false
	}
	name, p := s.state.Primary, s.primary()
	switch {
	case s.failing(name):
		s.say("primary %s is lost: %s", name, cmp.Or(p.Err, "its server is gone"))
	case s.switchover() == nil && s.healthy(name) && !p.Writable && len(s.ahead(p.Executed)) > 0:
		s.say("primary %s came back without transactions that its replicas received", name)
	default:
		return false
	}
	return s.canFailOver() && s.replacePrimary()
}

// replacePrimary writes the intent to promote the replica that received most; false while there is none.
func (s *situation) replacePrimary() bool {
	candidate, why := s.candidate()
	if candidate == "" {
		s.state.Message += "; " + why
		return false
	}
	old := s.state.Primary
	since := s.primary().FailingSince
	if since.IsZero() {
		since = s.view.Now
	}
	*s.node(old) = wire.NodeView{Name: old, Role: wire.RoleDown, Why: s.state.Message}
	s.failSwitchover(old + " was lost")
	chosen := s.now()
	s.state.Epoch++
	s.state.Primary, s.state.Opened = candidate, false
	s.state.Failovers = append(s.state.Failovers, wire.DirectedFailover{
		Epoch: s.state.Epoch, OldPrimary: old, NewPrimary: candidate,
		FirstFailureAt: microTime(since), DetectedAt: chosen, ChosenAt: &chosen,
		Message: s.state.Message,
	})
	return s.record()
}

// candidate returns the live replica that received most; of equals the one with the lowest ordinal. Without one it says
// why: there is none, or one that may have received more has failed looks, but not so many as to be lost.
func (s *situation) candidate() (name, why string) {
	why = "there is no live replica to promote"
	most := int64(-1)
	for _, r := range s.replicas() {
		o := s.see(r)
		switch {
		case s.healthy(r) && (o.Source != "" || s.steppedDown(r)):
			// A superset has more members. Sets that differ both ways come from writes past the primary; the larger counts.
			if n := o.Received.Count(); n > most {
				name, most = r, n
			}
		case o.FailedLooks > 0 && !s.failing(r) && !o.dead():
			return "", "waits to know whether " + r + " answers"
		}
	}
	return name, why
}

// finishFailover takes the failover that made this epoch one step on: old primary fenced, everything received applied,
// candidate opened. After that followPrimary re-points the others.
func finishFailover(s *situation) bool {
	f := s.failover()
	if f == nil || s.state.Opened {
		return false
	}
	if f.FencedAt == nil && !s.fenced(f) {
		return true
	}
	if fenceIntruders(s) {
		return true
	}
	if f.AppliedAt == nil {
		return s.applyReceived(f)
	}
	return s.openCandidate(f)
}

// fenced notes the moment from which the old primary certainly acknowledges nothing more: its server is gone or another
// one, which booted read-only, or it is read-only, or its lease has run out.
func (s *situation) fenced(f *wire.DirectedFailover) bool {
	old := s.see(f.OldPrimary)
	if (old.dead() && !old.Answers) || old.Replaced || (old.Answers && !old.Writable) || old.LeaseLeft <= 0 {
		at := s.now()
		f.FencedAt = &at
		return true
	}
	s.say("waits until %s is fenced or its lease has run out", f.OldPrimary)
	s.lookWithin(old.LeaseLeft)
	s.do(actFence, f.OldPrimary)
	return false
}

// applyReceived lets the candidate apply what it received. While it is not open the choice may still be mended.
func (s *situation) applyReceived(f *wire.DirectedFailover) bool {
	name := s.state.Primary
	o := s.see(name)
	if !s.healthy(name) {
		if s.failing(name) || o.dead() {
			return s.chooseAgain(f, "does not answer")
		}
		s.say("waits to know whether candidate %s answers", name)
		return true
	}
	for _, r := range s.ahead(o.Received) {
		if s.see(r).Source != "" && s.see(r).Received.Count() > o.Received.Count() {
			return s.chooseAgain(f, "received less than another")
		}
	}
	left := s.millis(s.cfg.CatchUpMilliseconds) - s.view.Now.Sub(f.FencedAt.Time)
	if s.stillReceiving(left) {
		return true
	}
	unapplied := o.Received.Beyond(o.Executed)
	if unapplied == 0 || left <= 0 {
		at := s.now()
		f.AppliedAt, f.Unapplied = &at, unapplied
		if unapplied > 0 {
			note(f, fmt.Sprintf("%s had not applied %d of the transactions it received after %d ms and goes on without them",
				name, unapplied, s.cfg.CatchUpMilliseconds))
		}
		return s.record()
	}
	s.say("waits until %s has applied what it received", name)
	s.lookWithin(left)
	if o.SQLRunning || !s.do(actStartApplying, name) {
		s.do(actCatchUp, name)
	}
	return true
}

// stillReceiving stops every replica's receiving, and is true until that is done: then it is known who received most.
// What the old primary had sent may wait in a replica's socket; so receiving is stopped once the source is gone or
// nothing new came for as long as lies between two looks, at the latest when no time is left.
func (s *situation) stillReceiving(left time.Duration) bool {
	probe := s.millis(s.cfg.ProbeMilliseconds)
	still := false
	for _, r := range append(s.liveReplicas(), s.state.Primary) {
		o := s.see(r)
		if o.IO == engine.ReceiverOff {
			continue
		}
		quiet := s.view.Now.Sub(o.ReceivedSince)
		if o.IO != engine.ReceiverOn || quiet >= probe || left <= 0 {
			if s.do(actStopReceiving, r) {
				return true
			}
			// A replica that cannot be told to stop does not hold the candidate up, a candidate does while there is time.
			still = still || (r == s.state.Primary && left > 0)
			continue
		}
		s.say("waits until %s has read what the old primary sent", r)
		s.lookWithin(probe - quiet)
		still = true
	}
	return still
}

// chooseAgain replaces a candidate that was not opened.
func (s *situation) chooseAgain(f *wire.DirectedFailover, why string) bool {
	old := s.state.Primary
	candidate, wait := s.candidate()
	if candidate == "" {
		s.say("candidate %s %s; %s", old, why, wait)
		return true
	}
	at := s.now()
	s.state.Epoch++
	s.state.Primary = candidate
	f.Epoch, f.NewPrimary, f.ChosenAt = s.state.Epoch, candidate, &at
	note(f, fmt.Sprintf("%s was chosen before %s but %s", old, candidate, why))
	return s.record()
}

// openCandidate promotes the candidate. From here on it may have been opened, even when this director does not know: if
// it is lost now, it is treated as a lost primary.
func (s *situation) openCandidate(f *wire.DirectedFailover) bool {
	name, o := s.state.Primary, s.primary()
	switch {
	case s.healthy(name) && o.Writable:
		s.state.Opened = true
		note(f, "the moment of promotion is not known: the director did not see its own act end")
		return false
	case s.failing(name):
		s.say("%s was lost while it was being promoted: %s", name, cmp.Or(o.Err, "its server is gone"))
		s.replacePrimary()
	case s.healthy(name):
		s.do(actPromote, name)
	}
	return true
}

func note(f *wire.DirectedFailover, text string) {
	if f.Message != "" {
		text = f.Message + "; " + text
	}
	f.Message = text
}

func (s *situation) millis(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
