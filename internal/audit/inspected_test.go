package audit

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/internal/engine/enginetest"
	"replab.dev/internal/ledger"
	"replab.dev/internal/wire"
)

// inspection is what an agent keeps of one start, and the ids beside it.
type inspection struct {
	wire.Inspection
	ids []uint64
}

func found(ids ...uint64) inspection {
	return inspection{wire.Inspection{WriteIDs: ptr.To(int64(len(ids)))}, ids}
}

// madeAt is when the data of a fresh node were made.
var madeAt = metav1.NewMicroTime(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC))

func fresh() inspection { return inspection{wire.Inspection{Fresh: true, At: madeAt}, nil} }

// agentOf serves inspections as an agent does.
func agentOf(t *testing.T, all ...inspection) *agentStub {
	t.Helper()
	a := &agentStub{t: t}
	for _, one := range all {
		a.list.Inspections = append(a.list.Inspections, one.Inspection)
		for _, id := range one.ids {
			a.ids.Add(id)
		}
		if one.ids != nil {
			a.list.WriteIDs = ptr.To(a.ids.Count())
		}
	}
	return a
}

// agentStub is what an agent serves.
type agentStub struct {
	t    *testing.T
	list wire.Inspections
	ids  ledger.Bitmap
}

// short has it say that there are more ids than there are.
func (a *agentStub) short() *agentStub {
	*a.list.WriteIDs++
	return a
}

// lost has it have none.
func (a *agentStub) lost() *agentStub {
	a.list.WriteIDs = nil
	return a
}

func (a *agentStub) url() string {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+wire.AgentPathInspections, func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(a.list) })
	mux.HandleFunc("GET "+wire.AgentPathInspected, func(w http.ResponseWriter, r *http.Request) {
		if a.list.WriteIDs == nil {
			http.NotFound(w, r)
			return
		}
		_, _ = a.ids.WriteTo(w)
	})
	server := httptest.NewServer(mux)
	a.t.Cleanup(server.Close)
	return server.URL
}

// TestWhatInspectedNodesHeld: ghosts are what a node held at any of its starts, or holds now, and the primary has not. Where one start is
// not known they are not either.
func TestWhatInspectedNodesHeld(t *testing.T) {
	primary, other := enginetest.Start(t, "primary"), enginetest.Start(t, "other")
	primary.Open()
	other.Open()
	primary.Exec(insert("1") + insert("2") + insert("3"))
	other.Exec(insert("1") + insert("2") + insert("9"))
	url := serveFile(t, writeLedger(t, 10))
	unread := found(1)
	unread.Error, unread.WriteIDs, unread.ids, unread.At = "the server did not start", nil, nil, madeAt
	for name, c := range map[string]struct {
		agent   *agentStub
		ghosts  int64 // of other
		count   int64
		unknown string
	}{
		"never started again":           {agentOf(t, fresh()), 1, 0, ""},
		"started with what others have": {agentOf(t, fresh(), found(1, 2)), 1, 1, ""},
		"with what only it had":         {agentOf(t, fresh(), found(1, 7)), 2, 1, ""},
		"twice, each time other writes": {agentOf(t, fresh(), found(1, 7), found(2, 7, 8)), 3, 2, ""},
		"with nothing":                  {agentOf(t, fresh(), found([]uint64{}...)), 1, 1, ""},
		"once it could not be read":     {agentOf(t, fresh(), unread, found(1)), 1, 1, "could not be read: the server did not start"},
		"once its data were gone":       {agentOf(t, fresh(), found(1), fresh()), 1, 1, "its data were gone"},
		"other ids than it says":        {agentOf(t, fresh(), found(1, 2)).short(), 0, 1, "there are 2 write ids, the agent says 3"},
		"ids that are not there":        {agentOf(t, fresh(), found(1)).lost(), 0, 1, "404"},
		"no inspection at all":          {agentOf(t), 0, 0, "kept no inspection"},
	} {
		t.Run(name, func(t *testing.T) {
			node := auditNode(other, wire.RoleReader)
			node.Agent = c.agent.url()
			result := audit(t, config(t, url, auditNode(primary, wire.RoleWriter), node))
			got := result.Nodes[1].Inspected
			if result.Nodes[0].Inspected != nil || got == nil {
				t.Fatalf("nodes are %+v", result.Nodes)
			}
			if known := name != "no inspection at all"; known != (got.FreshAt != nil) || known && !got.FreshAt.Equal(&madeAt) {
				t.Errorf("its data were made at %v", got.FreshAt)
			}
			once := strings.HasPrefix(name, "once ") // of one start alone nothing is known
			if stated := c.unknown == "" || once; stated != (got.Ghosts != nil) || stated && *got.Ghosts != c.ghosts || once != (got.UnknownAt != nil) {
				t.Errorf("%+v, %v ghosts", got, text(got.Ghosts))
			}
			if got.Inspections != c.count || !strings.Contains(got.Unknown, c.unknown) || (c.unknown == "") != (got.Unknown == "") {
				t.Errorf("%+v", got)
			}
		})
	}

	node := auditNode(primary, wire.RoleWriter) // it died, came back, and gave up what only it had
	node.Agent = agentOf(t, fresh(), found(1, 2, 3, 4)).url()
	if got := audit(t, config(t, url, node)).Nodes[0].Inspected; got == nil || got.Ghosts == nil || *got.Ghosts != 1 {
		t.Errorf("the primary: %+v", got)
	}
}

func text(n *int64) any {
	if n == nil {
		return "no"
	}
	return *n
}

// TestChecksums are of the rows, in whatever order, and of all of their columns.
func TestChecksums(t *testing.T) {
	primary, other := enginetest.Start(t, "primary"), enginetest.Start(t, "other")
	primary.Open()
	other.Open()
	const rows = "(1, 1, 'a', 'b', NULL, '', '', 'c'), (2, 2, 'a', 'b', '2000-01-01', 'x', 'y', 'c')"
	const reversed = "(2, 2, 'a', 'b', '2000-01-01', 'x', 'y', 'c'), (1, 1, 'a', 'b', NULL, '', '', 'c')"
	const into = "INSERT INTO social.users (id, write_id, first_name, last_name, birthdate, biography, city, password) VALUES "
	primary.Exec(into + rows)
	url := serveFile(t, writeLedger(t, 10))
	sums := func(asked bool) (string, string) {
		a, b := auditNode(primary, wire.RoleWriter), auditNode(other, wire.RoleReader)
		a.Checksum, b.Checksum = asked, asked
		nodes := audit(t, config(t, url, a, b)).Nodes
		if nodes[0].Failed != "" || nodes[1].Failed != "" {
			t.Fatalf("nodes are %+v", nodes)
		}
		return nodes[0].Checksum, nodes[1].Checksum
	}
	if p, empty := sums(true); p == "" || empty != "0" {
		t.Errorf("sums %q, and %q of an empty table", p, empty)
	}
	other.Exec(into + reversed)
	if p, o := sums(true); p != o {
		t.Errorf("the same rows have the sums %q and %q", p, o)
	}
	if p, o := sums(false); p != "" || o != "" {
		t.Errorf("nobody asked for %q and %q", p, o)
	}
	a, b := auditNode(primary, wire.RoleWriter), auditNode(other, wire.RoleReader)
	if r := audit(t, config(t, "", a, b)); r.Failed != "" || r.Writes != nil || *r.Nodes[1].Missing != 0 || *r.Nodes[1].Extra != 0 {
		t.Errorf("without a ledger: %+v", r)
	}
	for _, change := range []string{
		"id = 3 WHERE id = 2", "write_id = 3 WHERE id = 2", "first_name = 'A' WHERE id = 2", "last_name = 'a' WHERE id = 2", "birthdate = NULL WHERE id = 2",
		"birthdate = '1999-01-01' WHERE id = 1", "biography = 'y', city = 'x' WHERE id = 2", "city = '' WHERE id = 2", "password = 'd' WHERE id = 1",
	} {
		other.Exec("TRUNCATE social.users;" + into + rows + "; UPDATE social.users SET " + change)
		if p, o := sums(true); p == o {
			t.Errorf("the sum is the same after %s", change)
		}
	}
}
