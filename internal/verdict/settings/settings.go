// Package settings judges whether the servers ran with the settings that the spec asks for. It is pure.
package settings

import (
	"slices"
	"strings"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/topology"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/finding"
	"replab.dev/internal/wire"
)

// imagesDiffer finds a name that stood for several images during the run: its pods were not alike.
func imagesDiffer(e evidence.Run) []finding.Finding {
	var found []finding.Finding
	for _, d := range e.Provenance.Differences() {
		found = append(found, finding.Of(finding.ImagesDiffer, d))
	}
	return found
}

// Fill states the versions of what was measured and of what measured it.
func Fill(e evidence.Run, s *evidence.Status) {
	s.Versions = &v1alpha1.VersionsStatus{Operator: e.Provenance.Operator, Server: serverVersions(e), K6: k6Version(e)}
}

// Findings of the settings and images.
func Findings(e evidence.Run, _ *evidence.Status) []finding.Finding {
	return slices.Concat(settingsContradict(e), imagesDiffer(e), settingsUnknown(e))
}

// settingsOf are what the nodes' servers ran with, nil without a recorder.
func settingsOf(e evidence.Run) []wire.NodeSettings {
	if e.Recorder == nil {
		return nil
	}
	return e.Recorder.Settings
}

// serverVersions are those of the nodes' servers, each once; "" when none was read.
func serverVersions(e evidence.Run) string {
	var versions []string
	for _, n := range settingsOf(e) {
		if n.Version != "" && !slices.Contains(versions, n.Version) {
			versions = append(versions, n.Version)
		}
	}
	return strings.Join(versions, ", ")
}

func k6Version(e evidence.Run) string {
	if e.Recorder == nil {
		return ""
	}
	return e.Recorder.K6Version
}

// settingsContradict finds servers that ran with other settings than the spec says, or with others than when the load began.
func settingsContradict(e evidence.Run) []finding.Finding {
	var found []finding.Finding
	seen := map[string]string{}
	for _, n := range settingsOf(e) {
		for _, s := range n.Settings {
			if s.Differs {
				found = append(found, finding.Of(finding.SettingDiffers, n.Node, s.Name, value(*s.Actual), value(s.Value)))
			}
			if s.Changed != nil {
				was := "not set"
				if s.Actual != nil {
					was = value(*s.Actual)
				}
				found = append(found, finding.Of(finding.SettingChanged, n.Node, s.Name, value(*s.Changed), was))
			}
		}
		if other := seen[n.Identity]; other != "" && n.Identity != "" {
			found = append(found, finding.Of(finding.SameIdentity, other, n.Node, n.Identity))
		}
		seen[n.Identity] = n.Node
	}
	return found
}

// settingsUnknown finds servers whose settings were not read, or not all.
func settingsUnknown(e evidence.Run) []finding.Finding {
	if e.Recorder != nil && e.Recorder.Incomplete == "" && len(e.Recorder.Settings) == 0 {
		return []finding.Finding{finding.Of(finding.SettingsUnread)}
	}
	var found []finding.Finding
	for _, n := range settingsOf(e) {
		if n.Unread != "" {
			if e.Recorder.Incomplete == "" { // else an earlier recorder may have read them, which is a reason already
				found = append(found, finding.Of(finding.NodeSettingsUnread, n.Node, n.Unread))
			}
			continue
		}
		if n.UnreadAfter != "" && !downAtTheEnd(e, n.Node) {
			found = append(found, finding.Of(finding.NodeSettingsUnreadAfter, n.Node, n.UnreadAfter))
		}
		for _, s := range n.Settings {
			switch {
			case s.Actual != nil, s.MayLack:
			case s.AnyValue:
				found = append(found, finding.Of(finding.SettingNeeded, n.Node, s.Name))
			default:
				found = append(found, finding.Of(finding.SettingUnknown, n.Node, s.Name, value(s.Value)))
			}
		}
	}
	return found
}

// downAtTheEnd tells that a node need not answer when the load ends: a fault holds it, or it is not back in its place.
func downAtTheEnd(e evidence.Run, node string) bool {
	ended := evidence.Moment{}
	if e.Recorder.LoadEndedAt != nil {
		ended = evidence.Moment{Earliest: e.Recorder.LoadEndedAt.Time, Latest: e.Recorder.LoadEndedAt.Time}
	}
	return slices.ContainsFunc(e.Faults, func(f v1alpha1.FaultStatus) bool {
		hold := evidence.PlannedOf(e.Spec, f).HoldSeconds
		return f.Pod == node && f.InjectedTime != nil && hold != 0 &&
			(hold < 0 || f.ReleasedTime == nil || !evidence.ReleasedMoment(e, f).Latest.Before(ended.Earliest))
	}) || slices.ContainsFunc(e.State.Absences, func(a topology.Absence) bool {
		clock := evidence.ClockOf(e.Recorder, a.Clock)
		return a.Node == node && (a.BackAt == nil || clock == nil || !evidence.Told(a.BackAt.Time, *clock).Latest.Before(ended.Earliest))
	})
}

// value shows an empty setting too.
func value(v string) string {
	if v == "" {
		return `""`
	}
	return v
}
