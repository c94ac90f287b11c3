package verdict

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/topology"
	"replab.dev/internal/verdict/evidence"
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
		{
			"not read after the load", func(n *wire.NodeSettings) { n.UnreadAfter = "no answer" },
			v1alpha1.VerdictInconclusive, "The settings of node db-1 were not read after the load: no answer.",
		},
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

// TestRestartedRecorderIsTheOnlyReason: the reading before the load was lost with it, and is no reason of its own.
func TestRestartedRecorderIsTheOnlyReason(t *testing.T) {
	e := evidencetest.Sound()
	e.Recorder.Incomplete = "it was restarted"
	e.Recorder.Settings = []wire.NodeSettings{{Node: "db-0", Unread: "lost"}, {Node: "db-1", Unread: "lost"}}
	var status v1alpha1.ReplicationExperimentStatus
	Judge(e, &status)
	const why = "The recorder's figures are incomplete: it was restarted."
	if status.Verdict != v1alpha1.VerdictInconclusive || !slices.Equal(status.Reasons, []string{why}) {
		t.Errorf("%s: %q", status.Verdict, status.Reasons)
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
	killed := func(e *evidence.Run) { e.Spec.Faults = []v1alpha1.Fault{{Name: "crash", Action: v1alpha1.ActionKill}} }
	away := func(e *evidence.Run) { e.State.Absences = []topology.Absence{{Node: "db-0", Clock: "director"}} }
	paused := func(e *evidence.Run) { e.Spec.Faults = []v1alpha1.Fault{{Name: "crash", Action: v1alpha1.ActionPause}} }
	for _, c := range []struct {
		durability v1alpha1.Durability
		rows       int64
		change     func(*evidence.Run)
		want       v1alpha1.Verdict
	}{
		{v1alpha1.DurabilityVolatile, 0, killed, v1alpha1.VerdictPassed},
		{v1alpha1.DurabilityVolatile, 0, away, v1alpha1.VerdictPassed},
		{v1alpha1.DurabilityVolatile, 0, paused, v1alpha1.VerdictInvalid},
		{v1alpha1.DurabilityVolatile, 2, killed, v1alpha1.VerdictInvalid},
		{v1alpha1.DurabilityFull, 0, killed, v1alpha1.VerdictInvalid},
	} {
		s := judged(func(e *evidence.Run) {
			e.Spec.Topology.Durability = c.durability
			e.Audit.Nodes[0].Extra = ptr.To(c.rows) // with 2 rows of probes and 3 transactions
			c.change(e)
		})
		if s.Verdict != c.want {
			t.Errorf("%s with %d rows of its own: %s: %q", c.durability, c.rows, s.Verdict, s.Reasons)
		}
	}
}

func TestAServerThatNeverEndedForgetsNothing(t *testing.T) {
	for reason, node := range map[string]wire.AuditedNode{
		"Node db-2 reports that it applied all writes, but its table lacks 993 of them.": {Rows: ptr.To[int64](0), Missing: ptr.To[int64](993), Extra: ptr.To[int64](0)},
		"Node db-2 holds the same writes as the reference node, but other rows":          {Rows: ptr.To[int64](993), Missing: ptr.To[int64](0), Extra: ptr.To[int64](0), Checksum: "b"},
	} {
		for _, killed := range []string{"", "db-2", "db-1"} {
			s := judged(func(e *evidence.Run) {
				e.Spec.Topology.Durability, e.Rest = v1alpha1.DurabilityVolatile, &v1alpha1.RestStatus{AtRest: metav1.ConditionTrue, Writers: []string{"db-1"}}
				node.Name, node.Role = "db-2", wire.RoleReader
				e.Audit.Nodes[1].Checksum = "a"
				e.Audit.Nodes = append(e.Audit.Nodes, node)
				if killed != "" {
					besides(e, killed, "kill", "kill", 20_000)
					e.Spec.Faults = append(e.Spec.Faults, v1alpha1.Fault{Name: "kill", Action: v1alpha1.ActionKill})
				}
			})
			if told := strings.Contains(strings.Join(s.Reasons, "\n"), reason); told != (killed == "") {
				t.Errorf("killed %q: %s: %q, want %q", killed, s.Verdict, s.Reasons, reason)
			}
		}
	}
}

func TestSettingsOfANodeThatAFaultKeepsDownAreNotReadAgain(t *testing.T) {
	released := func(ms int64) func(*evidence.Run) {
		return func(e *evidence.Run) {
			e.Spec.Faults[0].HoldSeconds, e.Faults[0].ReleasedTime = 29, evidencetest.AtPtr(ms)
		}
	}
	for name, c := range map[string]struct {
		change func(*evidence.Run)
		want   v1alpha1.Verdict
	}{
		"held until the audit":         {func(e *evidence.Run) { e.Spec.Faults[0].HoldSeconds = -1 }, v1alpha1.VerdictPassed},
		"held beyond the load":         {released(61_000), v1alpha1.VerdictPassed},
		"released long before its end": {released(31_000), v1alpha1.VerdictInconclusive},
		"not back at its end": {func(e *evidence.Run) {
			e.State.Absences = []topology.Absence{{Node: "db-0", Clock: "director", Absence: wire.Absence{LeftAt: evidencetest.At(31_000)}}}
		}, v1alpha1.VerdictPassed},
		"back long before its end": {func(e *evidence.Run) {
			e.State.Absences = []topology.Absence{{Node: "db-0", Clock: "director", Absence: wire.Absence{LeftAt: evidencetest.At(31_000), BackAt: evidencetest.AtPtr(40_000)}}}
		}, v1alpha1.VerdictInconclusive},
	} {
		s := judged(func(e *evidence.Run) {
			e.Spec.Faults = []v1alpha1.Fault{{Name: "crash", Action: v1alpha1.ActionKill}}
			e.Recorder.Settings[0].UnreadAfter = "no answer"
			c.change(e)
		})
		if s.Verdict != c.want {
			t.Errorf("%s: %s: %q", name, s.Verdict, s.Reasons)
		}
	}
}
