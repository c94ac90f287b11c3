package starter

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"replab.dev/internal/agent/agenttest"
	"replab.dev/internal/engine"
	"replab.dev/internal/engine/family/familytest"
	"replab.dev/internal/engine/mariadb"
	"replab.dev/internal/engine/mariadb/mariadbtest"
	"replab.dev/internal/wire"
)

// pair is a donor that has rows and a node that is to become its copy, each under its wrapper.
type pair struct {
	t             *testing.T
	donor, node   *agenttest.Node
	donorW, nodeW *agenttest.Process
	admin         engine.Admin // of the node
}

func newPair(t *testing.T) *pair {
	p := &pair{t: t, donor: agenttest.NewNodeOf(t, mariadbtest.Flavor), node: agenttest.NewNodeOf(t, mariadbtest.Flavor)}
	p.donorW, p.nodeW = p.donor.Wrapper(), p.node.Wrapper()
	p.donor.Ready(p.donorW)
	p.node.Ready(p.nodeW)
	p.donor.Server.Open()
	p.donor.Server.Exec("USE social; INSERT INTO social.probe_writes SELECT seq, 'x' FROM seq_1_to_500")
	p.node.Server.Exec("INSERT INTO social.probe_writes VALUES (7, 'a ghost')")
	var err error
	p.admin, err = mariadb.OpenAdmin(engine.AdminParams{
		Host: "127.0.0.1", Port: p.node.Server.Port, AdminPassword: familytest.Password, ReplicationPassword: familytest.Password,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.admin.Close() })
	return p
}

// request leaves the request for a copy as Clone does, from a wrapper at any port.
func (p *pair) request(port int) { requestCopy(p.t, p.node, port) }

func requestCopy(t *testing.T, node *agenttest.Node, port int) {
	t.Helper()
	text, err := json.Marshal(engine.CopyRequest{Name: "donor", Host: "127.0.0.1", Port: port, Note: ""})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(node.Config.DataDir, engine.CopyRequestFile), text, 0o644); err != nil {
		t.Fatal(err)
	}
	_, _ = node.Server.DB(wire.AccountAdmin, "").Exec("SHUTDOWN") // it may be gone before it answers
}

func (p *pair) awaitState(want engine.CloneState) engine.Look {
	p.t.Helper()
	var l engine.Look
	agenttest.Eventually(p.t, "the copy is "+string(want), func() bool {
		var err error
		l, err = p.admin.Look(p.t.Context(), engine.Question{Clone: true})
		return err == nil && l.Clone == want
	})
	return l
}

func (p *pair) rows() (n int) {
	p.t.Helper()
	if err := p.node.Server.DB(wire.AccountProbe, wire.Database).QueryRow("SELECT COUNT(*) FROM probe_writes").Scan(&n); err != nil {
		p.t.Fatal(err)
	}
	return n
}

func TestANodeBecomesACopyOfAnother(t *testing.T) {
	p := newPair(t)
	if l := p.awaitState(""); l.Clone != "" {
		t.Errorf("a node that is no copy says %q", l.Clone)
	}
	identity := number(t, p.node.Server, "SELECT @@server_id")
	donor, err := mariadb.OpenAdmin(engine.AdminParams{Host: "127.0.0.1", Port: p.donor.Server.Port, AdminPassword: familytest.Password})
	if err != nil {
		t.Fatal(err)
	}
	defer donor.Close()
	had, err := donor.Look(t.Context(), engine.Question{})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.admin.Clone(t.Context(), engine.Source{Name: "donor", Host: "127.0.0.1", Port: p.donor.Server.Port}); err != nil {
		t.Fatal(err)
	}
	l := p.awaitState(engine.CloneCompleted)
	if f := l.Cloned; f == nil || f.Milliseconds < 1 || f.ReceivedBytes < 1<<20 {
		t.Errorf("what the copy took: %+v", f)
	}
	if n := p.rows(); n != 500 {
		t.Errorf("the copy has %d rows, want the donor's 500", n)
	}
	if l.Writable || l.SourceHost != "" || l.Executed.String() != had.Executed.String() {
		t.Errorf("the copy is writable %t, replicates from %q, has executed %s; the donor %s", l.Writable, l.SourceHost, l.Executed, had.Executed)
	}
	if now := number(t, p.node.Server, "SELECT @@server_id"); now == identity || now == number(t, p.donor.Server, "SELECT @@server_id") {
		t.Errorf("the copy's identity is %s: it must be a new one", now)
	}
	for _, n := range []*agenttest.Node{p.node, p.donor} {
		for _, left := range []string{n.Config.DataDir + unfinished, filepath.Join(filepath.Dir(n.Config.DataDir), "copy.tmp"), filepath.Join(n.TmpDir, "replab-copy.cnf")} {
			if _, err := os.Stat(left); err == nil {
				t.Errorf("%s was left behind", left)
			}
		}
	}
}

func TestACopyIsGivenToReplicasAlone(t *testing.T) {
	p := newPair(t)
	for _, user := range []*url.Userinfo{nil, url.UserPassword(wire.AccountReplication, "wrong"), url.UserPassword(wire.AccountApp, familytest.Password)} {
		u := url.URL{Scheme: "http", Host: "127.0.0.1:" + strconv.Itoa(p.donor.Server.CopyPort), Path: wire.CopyPath, User: user}
		response, err := http.Get(u.String())
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if response.StatusCode != http.StatusUnauthorized || len(body) > 100 {
			t.Errorf("%v: %s, %d bytes", user, response.Status, len(body))
		}
	}
}

func TestANodeWithoutADonorGoesOnWithItsData(t *testing.T) {
	p := newPair(t)
	port, _ := cutting(t, p.donor, 1000, 1000)
	p.request(port)
	l := p.awaitState(engine.CloneFailed)
	if !strings.Contains(l.CloneError, "donor") || p.rows() != 1 {
		t.Errorf("it says %q and has %d rows, want those that it had", l.CloneError, p.rows())
	}
}

func number(t *testing.T, s *familytest.Server, query string) (value string) {
	t.Helper()
	if err := s.DB(wire.AccountAdmin, "").QueryRow(query).Scan(&value); err != nil {
		t.Fatal(err)
	}
	return value
}
