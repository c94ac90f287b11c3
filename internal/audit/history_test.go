package audit

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/internal/engine/mariadb"
	"replab.dev/internal/engine/mysql"
	"replab.dev/internal/wire"
)

// The audit finds out by itself who is a History: an engine that ceased to be one would lose its figures without a word.
var (
	_ History = mysql.Reader{}
	_ History = mariadb.Reader{}
)

// tables is a Session without a History.
type tables struct{ writeIDs []uint64 }

func (tables) Begin(context.Context) error { return nil }

func (s tables) Count(context.Context, string) (int64, error) { return int64(len(s.writeIDs)), nil }

func (s tables) IDs(_ context.Context, _, _ string, visit func(id uint64, null bool) error) error {
	for _, id := range s.writeIDs {
		if err := visit(id, false); err != nil {
			return err
		}
	}
	return nil
}

func (tables) Checksum(context.Context, string) (string, error) { return "7", nil }

func (tables) Close() error { return nil }

func (tables) Ping(context.Context) error { return nil }

// historian has made transactions of its own.
type historian struct{ tables }

func (historian) Executed(context.Context) (string, error) { return "own:1-3", nil }

func (historian) Own(context.Context) (bool, error) { return true, nil }

func (historian) Unexecuted(_ context.Context, others string) (int64, error) {
	return int64(len(others)), nil
}

func TestServersWithoutASetOfTheirTransactionsHaveNoFiguresOfIt(t *testing.T) {
	rows := tables{[]uint64{1, 2, 3}}
	for name, c := range map[string]struct {
		primary, node Session
		own           *bool
		ghosts        *int64
	}{
		"with one":    {historian{rows}, historian{rows}, ptr.To(true), ptr.To(int64(len("own:1-3")))},
		"without one": {rows, rows, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			primary := &node{AuditNode: wire.AuditNode{Role: wire.RoleWriter}, session: c.primary}
			primary.read(t.Context())
			n := &node{AuditNode: wire.AuditNode{Node: wire.Node{Name: "a"}, Role: wire.RoleIsolated, Checksum: true}, session: c.node}
			want := wire.AuditedNode{
				Name: "a", Role: wire.RoleIsolated, Checksum: "7", Rows: ptr.To[int64](3), Missing: ptr.To[int64](0), Extra: ptr.To[int64](0),
				ExtraProbeWrites: ptr.To[int64](0), HoldsOwn: c.own, GhostTransactions: c.ghosts,
			}
			if diff := cmp.Diff(want, n.examine(t.Context(), primary, nil)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// unsummed is a Session whose rows cannot be summed up.
type unsummed struct{ tables }

func (unsummed) Checksum(context.Context, string) (string, error) {
	return "", errors.New("disk error")
}

func TestFailedChecksumKeepsTheComparison(t *testing.T) {
	primary := &node{AuditNode: wire.AuditNode{Role: wire.RoleWriter, Checksum: true}, session: unsummed{tables{[]uint64{1, 2, 3}}}}
	primary.read(t.Context())
	n := &node{AuditNode: wire.AuditNode{Node: wire.Node{Name: "a"}, Role: wire.RoleReader, Checksum: true}, session: unsummed{tables{[]uint64{1, 9}}}}
	want := wire.AuditedNode{
		Name: "a", Role: wire.RoleReader, Failed: "node a: sum up the rows: disk error", Rows: ptr.To[int64](2), Missing: ptr.To[int64](2), Extra: ptr.To[int64](1),
		ExtraProbeWrites: ptr.To[int64](1),
	}
	if diff := cmp.Diff(want, n.examine(t.Context(), primary, nil)); diff != "" {
		t.Error(diff)
	}
	if got := primary.examine(t.Context(), primary, nil); got.Failed == "" || got.Rows == nil {
		t.Errorf("the primary: %+v", got)
	}
}

func TestGhostWritesOfAllNodesAreDistinct(t *testing.T) {
	held := map[string]tables{"primary": {[]uint64{1, 2}}, "a": {[]uint64{1, 2, 7, 8}}, "b": {[]uint64{1, 8, 9}}, "inspected": {[]uint64{1, 2}}}
	of := func(name string, role wire.Role) wire.AuditNode {
		return wire.AuditNode{Node: wire.Node{Name: name, Host: name}, Role: role}
	}
	inspected := of("inspected", wire.RoleReader)
	inspected.Agent = agentOf(t, fresh(), found(2, 7, 10)).url()
	for name, c := range map[string]struct {
		nodes []wire.AuditNode
		want  *int64
	}{
		"none":                        {[]wire.AuditNode{of("primary", wire.RoleWriter)}, ptr.To[int64](0)},
		"of one node":                 {[]wire.AuditNode{of("a", wire.RoleIsolated), of("primary", wire.RoleWriter)}, ptr.To[int64](2)},
		"of two with one in common":   {[]wire.AuditNode{of("primary", wire.RoleWriter), of("a", wire.RoleIsolated), of("b", wire.RoleIsolated)}, ptr.To[int64](3)},
		"of one that was read before": {[]wire.AuditNode{of("primary", wire.RoleWriter), of("a", wire.RoleIsolated), inspected}, ptr.To[int64](3)},
		"without a primary":           {[]wire.AuditNode{of("a", wire.RoleIsolated), of("b", wire.RoleIsolated)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			a := &auditor{
				cfg:  wire.AuditConfig{Nodes: c.nodes, ConnectTimeoutMilliseconds: 1000},
				open: func(_ context.Context, host, _ string) (Session, error) { return held[host], nil },
			}
			if diff := cmp.Diff(c.want, a.audit(t.Context()).GhostWrites); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestLostWritesAreSoughtOnEachNode: some have the row, some had it when they were started again.
func TestLostWritesAreSoughtOnEachNode(t *testing.T) {
	held := map[string]tables{"primary": {[]uint64{3, 4, 8, 9}}, "old": {[]uint64{3, 4, 5, 8, 9}}, "inspected": {[]uint64{3, 4, 8, 9}}}
	of := func(name string, role wire.Role) wire.AuditNode {
		return wire.AuditNode{Node: wire.Node{Name: name, Host: name}, Role: role}
	}
	inspected := of("inspected", wire.RoleReader)
	inspected.Agent = agentOf(t, fresh(), found(5, 6)).url()
	url := serveFile(t, writeLedger(t, 10)) // 3 to 9 were acknowledged
	a := &auditor{
		cfg:    wire.AuditConfig{Ledger: url, Nodes: []wire.AuditNode{of("old", wire.RoleIsolated), of("primary", wire.RoleWriter), inspected}, ConnectTimeoutMilliseconds: 1000},
		open:   func(_ context.Context, host, _ string) (Session, error) { return held[host], nil },
		ledger: newLedgerSource(url, time.Second),
	}
	at := func(id uint64) *metav1.MicroTime { return ptr.To(metav1.NewMicroTime(ackTime(id))) }
	want := []wire.LostWrite{
		{ID: 5, AcknowledgedAt: at(5), On: []string{"old"}, Was: []string{"inspected"}}, {ID: 6, AcknowledgedAt: at(6), Was: []string{"inspected"}}, {ID: 7, AcknowledgedAt: at(7)},
	}
	got := a.audit(t.Context())
	if got.Writes == nil || got.Writes.Lost != 3 {
		t.Fatalf("%+v, %s", got.Writes, got.Failed)
	}
	if diff := cmp.Diff(want, got.Writes.LostWrites); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
