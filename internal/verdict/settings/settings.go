// Package settings judges whether the servers ran with the settings that the spec asks for. It is pure.
package settings

import (
	"fmt"
	"slices"
	"strings"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/wire"
)

// ImagesDiffer finds a name that stood for several images during the run: its pods were not alike.
func ImagesDiffer(e evidence.Run, _ *v1alpha1.ReplicationExperimentStatus) []string {
	return e.Provenance.Differences()
}

// settingsOf are what the nodes' servers ran with, nil without a recorder.
func settingsOf(e evidence.Run) []wire.NodeSettings {
	if e.Recorder == nil {
		return nil
	}
	return e.Recorder.Settings
}

// ServerVersions are those of the nodes' servers, each once; "" when none was read.
func ServerVersions(e evidence.Run) string {
	var versions []string
	for _, n := range settingsOf(e) {
		if n.Version != "" && !slices.Contains(versions, n.Version) {
			versions = append(versions, n.Version)
		}
	}
	return strings.Join(versions, ", ")
}

func K6Version(e evidence.Run) string {
	if e.Recorder == nil {
		return ""
	}
	return e.Recorder.K6Version
}

// SettingsContradict finds servers that ran with other settings than the spec says, or with others than when the load began.
func SettingsContradict(e evidence.Run, _ *v1alpha1.ReplicationExperimentStatus) []string {
	var found []string
	seen := map[string]string{}
	for _, n := range settingsOf(e) {
		for _, s := range n.Settings {
			if s.Differs {
				found = append(found, fmt.Sprintf("Node %s ran with %s = %s where the spec says %s.", n.Node, s.Name, value(*s.Actual), value(s.Value)))
			}
			if s.Changed != nil {
				was := "not set"
				if s.Actual != nil {
					was = value(*s.Actual)
				}
				found = append(found, fmt.Sprintf("Node %s ended with %s = %s, which was %s when the load began: something changed it during the run.",
					n.Node, s.Name, value(*s.Changed), was))
			}
		}
		if other := seen[n.Identity]; other != "" && n.Identity != "" {
			found = append(found, fmt.Sprintf("Nodes %s and %s ran servers of one identity (%s): replication cannot tell them apart.", other, n.Node, n.Identity))
		}
		seen[n.Identity] = n.Node
	}
	return found
}

// SettingsUnknown finds servers that nobody knows the settings of.
func SettingsUnknown(e evidence.Run, _ *v1alpha1.ReplicationExperimentStatus) []string {
	if e.Recorder != nil && e.Recorder.Incomplete == "" && len(e.Recorder.Settings) == 0 {
		return []string{"What the servers ran with was not read."}
	}
	var found []string
	for _, n := range settingsOf(e) {
		if n.Unread != "" {
			found = append(found, fmt.Sprintf("What node %s ran with was not read before the load: %s.", n.Node, n.Unread))
			continue
		}
		for _, s := range n.Settings {
			switch {
			case s.Actual != nil, s.MayLack:
			case s.AnyValue:
				found = append(found, fmt.Sprintf("Node %s does not tell its %s, which decides what is measured.", n.Node, s.Name))
			default:
				found = append(found, fmt.Sprintf("Node %s does not tell its %s, which should be %s.", n.Node, s.Name, value(s.Value)))
			}
		}
	}
	return found
}

// value shows an empty setting too.
func value(v string) string {
	if v == "" {
		return `""`
	}
	return v
}
