package agent_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"replab.dev/internal/agent/agenttest"
	"replab.dev/internal/engine"
	"replab.dev/internal/engine/mariadb/mariadbtest"
	"replab.dev/internal/httpclient"
	"replab.dev/internal/wire"
)

// trio is a group of three real servers, each under its start wrapper and beside its agent, as their pods would run them. Each node
// has an address of this machine of its own.
type trio struct {
	t       *testing.T
	members []*trioMember
	http    *http.Client
}

type trioMember struct {
	wire.Node
	node      *agenttest.Node
	agentFile string
	wrapper   *agenttest.Process
	before    *agenttest.Process // the wrapper before, nil where there was none
	db        *sql.DB
}

// newTrio begins a group. It is in its place once all have met.
func newTrio(t *testing.T, d engine.Durability, change ...func(*wire.GroupConfig)) *trio {
	tr := &trio{t: t, http: httpclient.Client(&http.Transport{})}
	group := &wire.GroupConfig{Name: "trio"}
	for _, c := range change {
		c(group)
	}
	for i := range 3 {
		group.Members = append(group.Members, wire.Node{Name: fmt.Sprintf("trio-%d", i), Host: fmt.Sprintf("127.0.0.%d", i+1)})
	}
	for _, n := range group.Members {
		m := &trioMember{Node: n, agentFile: filepath.Join(t.TempDir(), "agent.json")}
		m.node = agenttest.NewNodeOf(t, mariadbtest.Flavor, func(s *engine.Settings) {
			s.Durability, s.Group = d, &engine.Group{Name: group.Name, SuspectMilliseconds: 1000}
		})
		c, a := &m.node.Config, &m.node.Agent
		config, err := os.ReadFile(filepath.Join(m.node.Server.Dir, "mariadb.cnf"))
		must(t, err)
		for _, line := range mariadbtest.Flavor.MemberLines(t, n.Host, string(config)) {
			c.Server = append(c.Server, "--"+line)
		}
		c.Group, c.Inspect, c.RunDir = group, true, filepath.Dir(c.Socket)
		a.Listen, a.Server, a.Leases, a.Group, a.Inspect, a.RunDir = fmt.Sprintf("%s:%d", n.Host, wire.PortAgent), c.Server, false, group, true, c.RunDir
		writeJSON(t, m.node.File, c)
		writeJSON(t, m.agentFile, a)
		m.db = m.node.Server.DB(wire.AccountAdmin, wire.Database)
		tr.members = append(tr.members, m)
	}
	for _, m := range tr.members {
		m.startAgent(t)
		m.startWrapper(t)
	}
	tr.awaitWhole()
	return tr
}

func writeJSON(t *testing.T, file string, document any) {
	t.Helper()
	text, err := json.Marshal(document)
	must(t, err)
	must(t, os.WriteFile(file, text, 0o600))
}

func (m *trioMember) startWrapper(t *testing.T) {
	m.before = m.wrapper
	m.wrapper = agenttest.Start(t, agenttest.Invocation{
		Command: "server", Arguments: []string{"--config", m.node.File}, Env: []string{"TMPDIR=" + m.node.TmpDir, wire.EnvPodName + "=" + m.Name},
	})
}

func (m *trioMember) startAgent(t *testing.T) {
	agenttest.Start(t, agenttest.Invocation{
		Command: "agent", Arguments: []string{"--config", m.agentFile}, Env: []string{wire.EnvPodName + "=" + m.Name, wire.EnvPodUID + "=" + m.Name},
	})
}

// awaitWhole waits until all members are in one primary component, and have what the others have.
func (tr *trio) awaitWhole() {
	tr.t.Helper()
	tr.await("all members are in step in one primary component", 3*time.Minute, func() bool {
		component := ""
		for _, m := range tr.members {
			g := tr.state(m).Group
			if g == nil || g.View == nil || !g.View.Primary || !g.CaughtUp || len(g.View.Members) != len(tr.members) || component != "" && component != g.View.Component {
				return false
			}
			component = g.View.Component
		}
		return true
	})
}

// awaitRest waits until all members have committed the same, while nobody writes. It asks the servers: what an agent tells may be from before
// the last write.
func (tr *trio) awaitRest() {
	tr.t.Helper()
	tr.await("all members have come equally far", time.Minute, func() bool {
		far := map[int64]bool{}
		for _, m := range tr.members {
			var name string
			var committed int64
			if m.db.QueryRow("SHOW GLOBAL STATUS LIKE 'wsrep_last_committed'").Scan(&name, &committed) != nil {
				return false
			}
			far[committed] = true
		}
		return len(far) == 1
	})
}

// await fails with what the wrappers have written.
func (tr *trio) await(what string, most time.Duration, holds func() bool) {
	tr.t.Helper()
	for deadline := time.Now().Add(most); !holds(); time.Sleep(50 * time.Millisecond) { // between two looks
		if time.Now().After(deadline) {
			for _, m := range tr.members {
				tr.t.Logf("%s: state %+v; its wrapper wrote:\n%s", m.Name, tr.state(m).Group, telling(m.wrapper.Output(tr.t)))
			}
			tr.t.Fatalf("not so within %s: %s", most, what)
		}
	}
}

// telling are the lines of a server's log that say what it has come to, and its last ones.
func telling(log string) string {
	lines := strings.Split(log, "\n")
	last := lines[max(0, len(lines)-20):]
	told := slices.DeleteFunc(lines[:len(lines)-len(last)], func(line string) bool {
		return !slices.ContainsFunc([]string{"level=", "[ERROR]", "Running: 'wsrep_sst", "Running IST", "Address already in use"}, func(part string) bool {
			return strings.Contains(line, part)
		})
	})
	return strings.Join(append(told, last...), "\n")
}

// kill ends servers with SIGKILL, all at once, and returns when that was, and their wrappers have ended.
func (tr *trio) kill(members ...*trioMember) time.Time {
	tr.t.Helper()
	var pids []int
	for _, m := range members {
		pids = append(pids, tr.pid(m))
	}
	at := time.Now()
	for _, pid := range pids {
		must(tr.t, syscall.Kill(pid, syscall.SIGKILL))
	}
	for _, m := range members {
		if code := m.wrapper.Wait(tr.t); code != 128+9 {
			tr.t.Fatalf("the wrapper of %s ended with %d", m.Name, code)
		}
	}
	return at
}
