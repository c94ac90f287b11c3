package director

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	sidecar "replab.dev/internal/agent"
	"replab.dev/internal/agent/agenttest"
	"replab.dev/internal/agent/part"
	"replab.dev/internal/engine/enginetest"
	wrapper "replab.dev/internal/starter"
	"replab.dev/internal/wire"
	"replab.dev/test/freeport"
)

// TestMain lets the test binary be the agent and the start wrapper of a node.
func TestMain(m *testing.M) {
	run := map[string]func() error{"server": wrapper.Command(enginetest.Starters, nil).Execute, "agent": sidecar.Command(enginetest.Locals, part.Families{}).Execute}[os.Getenv(agenttest.Command)]
	if run == nil {
		os.Exit(m.Run())
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "replab:", err)
		os.Exit(1)
	}
}

// startPod starts a node as its pod would: the server under its start wrapper, with the agent beside it.
func startPod(t *testing.T, e enginetest.Flavor, ordinal int, opts ...enginetest.Option) (*testNode, address) {
	t.Helper()
	node := agenttest.NewNodeOf(t, e, opts...).WithData()
	name := fmt.Sprintf("node-%d", ordinal)
	listen := freeport.Address(t)
	node.Agent.Listen = listen
	text, err := json.Marshal(node.Agent)
	if err != nil {
		t.Fatal(err)
	}
	agentFile := filepath.Join(t.TempDir(), "agent.json")
	if err := os.WriteFile(agentFile, text, 0o600); err != nil {
		t.Fatal(err)
	}
	pod := []string{wire.EnvPodName + "=" + name, wire.EnvPodUID + "=uid-of-" + name}
	server := agenttest.Invocation{Command: "server", Arguments: []string{"--config", node.File}, Env: append(pod, "TMPDIR="+node.TmpDir)}
	w := agenttest.Start(t, server)
	agenttest.Start(t, agenttest.Invocation{Command: "agent", Arguments: []string{"--config", agentFile}, Env: pod})
	node.Ready(w)
	var kubelet sync.WaitGroup
	kubelet.Go(func() { // starts the server's container again whenever it ended
		for {
			select {
			case <-t.Context().Done():
				return
			case <-w.Exited:
				w = agenttest.Start(t, server)
			}
		}
	})
	t.Cleanup(kubelet.Wait)
	n := &testNode{t: t, name: name, mysql: node.Server, db: node.Server.DB(wire.AccountAdmin, wire.Database), url: "http://" + listen}
	n.app = node.Server.DB(wire.AccountApp, wire.Database)
	return n, address{Name: name, Host: "127.0.0.1", Port: node.Server.Port, AgentURL: n.url}
}

// With the real agents and start wrappers: the fault is theirs, and so is the restart at the end of the clone.
func TestPodsFailOverAndRejoin(t *testing.T) { enginetest.Each(t, podsFailOverAndRejoin) }

func podsFailOverAndRejoin(t *testing.T, e enginetest.Flavor) {
	l := bareLab(t, e)
	l.useSemiSync()
	for i := range 2 {
		// Not longer: a commit that waits for an acknowledgement keeps its server from being cloned.
		n, a := startPod(t, e, i, enginetest.SemiSync(1, 10*time.Second))
		l.nodes, l.places = append(l.nodes, n), append(l.places, a)
		l.cfg.Nodes = append(l.cfg.Nodes, wire.Node{Name: n.name, Host: "127.0.0.1"})
	}
	d, _ := l.direct(l.store)
	l.configured(d)
	old, heir := l.nodes[0], l.nodes[1]
	w := l.write()
	l.eventually("writes", func() bool { return w.count() > 100 }, func() string { return "" })
	l.killPod(old, 6000)
	state := l.await(d, "a failover", func(s wire.DirectorState) bool { return len(s.Failovers) == 1 && s.Failovers[0].RepointedAt != nil })
	checkMoments(t, state.Failovers[0])
	w.stop()
	if lost := w.lost(heir); len(lost) > 0 {
		t.Errorf("%d of %d acknowledged writes are lost, such as %d", len(lost), w.count(), lost[0])
	}
	l.await(d, "ghosts counted", func(s wire.DirectorState) bool { return entry(s, old).GhostTransactions != nil })
	if err := d.Rejoin(t.Context(), old.name); err != nil {
		t.Fatal(err)
	}
	l.await(d, "a rebuilt node", func(s wire.DirectorState) bool {
		return entry(s, old).Rejoin == wire.RejoinDone && entry(s, old).CaughtUp
	})
	heir.mysql.Exec("INSERT INTO social.probe_writes VALUES (1000000, 'after')")
	old.mysql.CatchUp(heir.mysql)
	if old.rows() != heir.rows() {
		t.Errorf("%s has %s, the primary %s", old.name, old.rows(), heir.rows())
	}
}

// killPod has the agent kill the server and hold it for a while, and returns when the server is gone.
func (l *lab) killPod(n *testNode, holdMilliseconds int64) {
	l.t.Helper()
	fault := wire.FaultRequest{Name: "crash", PodUID: "uid-of-" + n.name, Action: wire.FaultKill, HoldMilliseconds: holdMilliseconds}
	var record wire.FaultRecord
	l.eventually("the kill", func() bool {
		record = l.askForFault(n, fault) // asking again repeats nothing
		return record.Confirmed
	}, func() string { return fmt.Sprintf("%+v", record) })
}

func (l *lab) askForFault(n *testNode, fault wire.FaultRequest) (record wire.FaultRecord) {
	l.t.Helper()
	body, err := json.Marshal(fault)
	if err != nil {
		l.t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(l.t.Context(), http.MethodPut, n.url+wire.AgentPathFaults+fault.Name, bytes.NewReader(body))
	if err != nil {
		l.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		l.t.Fatal(err)
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(&record); err != nil || response.StatusCode != http.StatusOK {
		l.t.Fatalf("the agent did not take the fault: %s %+v %v", response.Status, record, err)
	}
	return record
}
