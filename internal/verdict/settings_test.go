package verdict

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/verdict/evidencetest"
	"replab.dev/internal/wire"
)

func TestWhatTheServersRanWithDecidesTheVerdict(t *testing.T) {
	for _, c := range []struct {
		name    string
		change  func(*wire.NodeSettings)
		verdict v1alpha1.Verdict
		reason  string
	}{
		{"as the spec says", func(*wire.NodeSettings) {}, v1alpha1.VerdictPassed, ""},
		{
			"another value", func(n *wire.NodeSettings) { n.Settings[0].Actual, n.Settings[0].Differs = ptr.To("0"), true },
			v1alpha1.VerdictInvalid, "Node db-1 ran with sync_binlog = 0; the spec says 1.",
		},
		{
			"a change during the run", func(n *wire.NodeSettings) { n.Settings[0].Changed = ptr.To("0") },
			v1alpha1.VerdictInvalid, "Node db-1 ended with sync_binlog = 0; it was 1 when the load began.",
		},
		{
			"one identity for two", func(n *wire.NodeSettings) { n.Identity = "uuid-of-db-0" },
			v1alpha1.VerdictInvalid, "Nodes db-0 and db-1 have the same server identity (uuid-of-db-0), so replication cannot tell them apart.",
		},
		{
			"not read", func(n *wire.NodeSettings) { *n = wire.NodeSettings{Node: "db-1", Unread: "no answer"} },
			v1alpha1.VerdictInconclusive, "The settings of node db-1 were not read before the load: no answer.",
		},
		{
			"a setting that the server does not have", func(n *wire.NodeSettings) { n.Settings[0].Actual = nil },
			v1alpha1.VerdictInconclusive, "Node db-1 does not report its sync_binlog, which should be 1.",
		},
		{
			"a setting that is to be stated and is not told", func(n *wire.NodeSettings) {
				n.Settings = append(n.Settings, wire.SettingRead{Setting: wire.Setting{Name: "evs.suspect_timeout", AnyValue: true}})
			},
			v1alpha1.VerdictInconclusive, "Node db-1 does not report its evs.suspect_timeout, which decides what is measured.",
		},
		{
			"one that is told", func(n *wire.NodeSettings) {
				n.Settings = append(n.Settings, wire.SettingRead{Setting: wire.Setting{Name: "evs.suspect_timeout", AnyValue: true}, Actual: ptr.To("PT5S")})
			},
			v1alpha1.VerdictPassed, "",
		},
		{"not read after the load, as of a node that a fault holds", func(n *wire.NodeSettings) { n.UnreadAfter = "no answer" }, v1alpha1.VerdictPassed, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := evidencetest.Sound()
			e.Recorder.Settings = []wire.NodeSettings{evidencetest.SettingsRead("db-0"), evidencetest.SettingsRead("db-1", c.change)}
			var status v1alpha1.ReplicationExperimentStatus
			Judge(e, &status)
			if status.Verdict != c.verdict {
				t.Errorf("%s: %s", status.Verdict, strings.Join(status.Reasons, "\n"))
			}
			if c.reason != "" && !slices.Contains(status.Reasons, c.reason) {
				t.Errorf("no reason says %q: %q", c.reason, status.Reasons)
			}
		})
	}
}

func TestTheServersVersionsStandInTheStatus(t *testing.T) {
	e := evidencetest.Sound()
	other := func(n *wire.NodeSettings) { n.Version = "8.4.0 (Percona)" }
	e.Recorder.Settings = []wire.NodeSettings{evidencetest.SettingsRead("db-0"), evidencetest.SettingsRead("db-1"), evidencetest.SettingsRead("db-2", other)}
	var status v1alpha1.ReplicationExperimentStatus
	Judge(e, &status)
	if got := status.Versions.Server; got != "9.7.4 (Debian), 8.4.0 (Percona)" {
		t.Errorf("versions: %q", got)
	}
}

// TestWritesThatWereSentTwiceAreOnBothSides: a transaction of the old primary alone, whose row the new one got by another.
func TestWritesThatWereSentTwiceAreOnBothSides(t *testing.T) {
	const said = "Node db-0 has 1 transactions of its own whose rows other nodes hold too: the proxy sent those writes twice."
	for name, c := range map[string]struct {
		twice bool
		rows  int64
		want  v1alpha1.Verdict
		says  bool
	}{
		"sent twice":                           {true, 0, v1alpha1.VerdictPassed, true},
		"none was sent twice":                  {true, 1, v1alpha1.VerdictPassed, false},
		"rows without transactions":            {true, 2, v1alpha1.VerdictInvalid, false},
		"a proxy that sends nothing twice":     {false, 0, v1alpha1.VerdictInvalid, false},
		"a proxy that may not, and has not so": {false, 1, v1alpha1.VerdictPassed, false},
	} {
		e := evidencetest.Sound() // 2 rows of probes, 3 transactions
		e.SendsTwice, e.Audit.Nodes[0].Extra = c.twice, ptr.To(c.rows)
		var status v1alpha1.ReplicationExperimentStatus
		Judge(e, &status)
		if status.Verdict != c.want || slices.Contains(status.Notes, said) != c.says {
			t.Errorf("%s: %s: %q", name, status.Verdict, status.Reasons)
		}
	}
}

// TestAServerMayForgetRowsWithVolatileDurability whose transactions it still names; it cannot have more rows than these.
func TestAServerMayForgetRowsWithVolatileDurability(t *testing.T) {
	for _, c := range []struct {
		durability v1alpha1.Durability
		rows       int64
		want       v1alpha1.Verdict
	}{
		{v1alpha1.DurabilityVolatile, 0, v1alpha1.VerdictPassed},
		{v1alpha1.DurabilityVolatile, 2, v1alpha1.VerdictInvalid},
		{v1alpha1.DurabilityFull, 0, v1alpha1.VerdictInvalid},
	} {
		e := evidencetest.Sound() // 2 rows of probes, 3 transactions
		e.Spec.Topology.Durability = c.durability
		e.Audit.Nodes[0].Extra = ptr.To(c.rows)
		var status v1alpha1.ReplicationExperimentStatus
		Judge(e, &status)
		if status.Verdict != c.want {
			t.Errorf("%s with %d rows of its own: %s: %q", c.durability, c.rows, status.Verdict, status.Reasons)
		}
	}
}
