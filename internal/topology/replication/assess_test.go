package replication

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/internal/topology"
	"replab.dev/internal/wire"
)

var at = metav1.NewMicroTime(time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC))

func TestAssess(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer string // in place of told
		err    string
		told   wire.DirectorState
		want   topology.State
	}{
		{name: "a director that does not answer", err: "connection refused", want: topology.State{Why: "the director does not answer: connection refused"}},
		{
			name: "an answer that cannot be read", answer: `{"epoch": "one"}`,
			want: topology.State{Why: "the director's answer cannot be read: json: cannot unmarshal string into Go struct field DirectorState.epoch of type int64"},
		},
		{name: "an empty answer", answer: " ", want: topology.State{Why: "the director's answer cannot be read: unexpected end of JSON input"}},
		{
			name: "a director that has chosen nobody yet", told: wire.DirectorState{Message: "waits until db-0 answers"},
			want: topology.State{Known: true, Why: "waits until db-0 answers"},
		},
		{
			name: "a primary that was chosen and is not opened takes no writes",
			told: wire.DirectorState{Epoch: 1, Primary: "db-0", Nodes: []wire.NodeView{{Name: "db-0", Role: wire.RoleDown, Why: "is not configured yet"}}},
			want: topology.State{Known: true, Nodes: []topology.NodeState{{Name: "db-0", Role: topology.Down, Why: "is not configured yet"}}},
		},
		{
			name: "all in place",
			told: wire.DirectorState{Epoch: 1, Primary: "db-0", Opened: true, Configured: true, Nodes: []wire.NodeView{
				{Name: "db-0", Role: wire.RoleWriter}, {Name: "db-1", Role: wire.RoleReader, CaughtUp: true}, {Name: "db-2", Role: wire.RoleReader, Why: "lags"},
			}},
			want: topology.State{Known: true, Deployed: true, Writers: []string{"db-0"}, Nodes: []topology.NodeState{
				{Name: "db-0", Role: topology.Writer}, {Name: "db-1", Role: topology.Reader, CaughtUp: true}, {Name: "db-2", Role: topology.Reader, Why: "lags"},
			}},
		},
		{
			name: "a failover under way has a candidate and no writer",
			told: wire.DirectorState{
				Epoch: 2, Primary: "db-1", Configured: true, Nodes: []wire.NodeView{{Name: "db-0", Role: wire.RoleDown}, {Name: "db-1", Role: wire.RoleReader}},
				Failovers: []wire.DirectedFailover{{Epoch: 2, OldPrimary: "db-0", NewPrimary: "db-1", DetectedAt: at}},
			},
			want: topology.State{
				Known: true, Deployed: true, Nodes: []topology.NodeState{{Name: "db-0", Role: topology.Down}, {Name: "db-1", Role: topology.Reader}},
				Failovers: []topology.Failover{{Clock: "director", OldWriter: "db-0", NewWriter: "db-1", DetectedAt: at}},
			},
		},
		{
			name: "of several failovers all are told",
			told: wire.DirectorState{Epoch: 3, Primary: "db-0", Opened: true, Configured: true, Failovers: []wire.DirectedFailover{
				{Epoch: 2, OldPrimary: "db-0", NewPrimary: "db-1", DetectedAt: at, PromotedAt: &at},
				{Epoch: 3, OldPrimary: "db-1", NewPrimary: "db-0", DetectedAt: at, PromotedAt: &at, Unapplied: 12},
			}},
			want: topology.State{
				Known: true, Deployed: true, Writers: []string{"db-0"},
				Failovers: []topology.Failover{
					{Clock: "director", OldWriter: "db-0", NewWriter: "db-1", DetectedAt: at, PromotedAt: &at},
					{Clock: "director", OldWriter: "db-1", NewWriter: "db-0", DetectedAt: at, PromotedAt: &at, Unapplied: 12},
				},
			},
		},
		{
			name: "an isolated node has its ghosts and how far it is rebuilt",
			told: wire.DirectorState{Epoch: 2, Primary: "db-1", Opened: true, Configured: true, Nodes: []wire.NodeView{
				{Name: "db-0", Role: wire.RoleIsolated, GhostTransactions: ptr.To[int64](3), Rejoin: wire.RejoinCloning},
			}},
			want: topology.State{Known: true, Deployed: true, Writers: []string{"db-1"}, Nodes: []topology.NodeState{
				{Name: "db-0", Role: topology.Isolated, GhostTransactions: ptr.To[int64](3), Rejoin: wire.RejoinCloning},
			}},
		},
		{
			name: "a role of a newer director says nothing: the node is down for all that is known",
			told: wire.DirectorState{Epoch: 1, Primary: "db-0", Opened: true, Nodes: []wire.NodeView{{Name: "db-0", Role: "Arbiter", Why: "votes"}, {Name: "db-1"}}},
			want: topology.State{Known: true, Writers: []string{"db-0"}, Nodes: []topology.NodeState{
				{Name: "db-0", Role: topology.Down, Why: `has the unknown role "Arbiter"; votes`}, {Name: "db-1", Role: topology.Down, Why: `has the unknown role ""`},
			}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			answer := topology.Answer{Body: []byte(c.answer), Err: c.err}
			if c.answer == "" && c.err == "" {
				body, err := json.Marshal(c.told)
				if err != nil {
					t.Fatal(err)
				}
				answer.Body = body
			}
			got := Driver{}.Assess(topology.Params{}, topology.Answers{directorQuestion: answer})
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if got := (Driver{}).Assess(topology.Params{}, nil); got.Known || got.Why == "" {
		t.Errorf("without an answer at all: %+v, want a state that is not known", got)
	}
}

func TestTheQuestionsAreThoseThatAssessReads(t *testing.T) {
	q := Driver{}.Questions(topology.Params{Name: "x", Namespace: "ns", ClusterDomain: "cluster.local"})
	if len(q) != 1 || q[0].Name != directorQuestion || q[0].URL != "http://x-director.ns.svc.cluster.local:8400/state" {
		t.Errorf("it asks %+v", q)
	}
}
