package rewind_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"replab.dev/internal/agent/fault"
	"replab.dev/internal/agent/inspect"
	"replab.dev/internal/agent/proc"
	"replab.dev/internal/engine"
	"replab.dev/internal/engine/postgres"
	"replab.dev/internal/engine/postgres/patronitest"
	"replab.dev/internal/engine/postgres/postgrestest"
	"replab.dev/internal/ledger"
	"replab.dev/internal/topology/patroni/rewind"
	"replab.dev/internal/wire"
	"replab.dev/test/halt"
	"replab.dev/test/kubetest"
)

// command is the environment variable that has the test binary be `replab rewind`.
const command = "REPLAB_TEST_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(command) == "rewind" {
		cmd := rewind.Command(engine.Lookup[engine.Starter]{"PostgreSQL": postgres.Server{}})
		if err := cmd.Execute(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(kubetest.Main(m))
}

// agent is what a node's agent does for a rewind and for faults.
type agent struct {
	node      *patronitest.Node
	server    *proc.Finder
	family    *proc.Family
	inspector *inspect.Inspector
	faults    *fault.Manager
}

func newAgent(t *testing.T, n *patronitest.Node) *agent {
	t.Helper()
	dir := postgrestest.Dir(t)
	cfg := wire.ServerConfig{
		Engine: "PostgreSQL", Server: []string{"postgres", "-D", n.DataDir}, Socket: postgres.Socket(n.RunDir, postgres.Port), DataDir: n.DataDir,
		HoldDir: filepath.Join(dir, "holds"), SecretDir: filepath.Join(dir, "secrets"), RunDir: n.RunDir, Inspect: true,
	}
	for _, folder := range []string{cfg.HoldDir, cfg.SecretDir} {
		must(t, os.Mkdir(folder, 0o755))
		postgrestest.Own(t, folder)
	}
	secret := filepath.Join(cfg.SecretDir, wire.AccountAdmin)
	must(t, os.WriteFile(secret, []byte(postgrestest.Password), 0o600))
	postgrestest.Own(t, secret)
	text, err := json.Marshal(cfg)
	must(t, err)
	file := filepath.Join(dir, "server.json")
	must(t, os.WriteFile(file, text, 0o644))
	n.Replace("pg_rewind", fmt.Sprintf("#!/bin/sh\n%s=rewind exec %s --config %s -- \"$@\"\n", command, copySelf(t, dir), file))

	a := &agent{node: n}
	a.server = proc.NewFinder("postgres", func(argv []string) bool { return postgres.Server{}.IsServer(cfg.Server, argv) })
	a.family = proc.NewFamily(a.server, proc.NewFinder("patroni", func(argv []string) bool {
		return len(argv) > 0 && argv[len(argv)-1] == filepath.Join(n.RunDir, "patroni.yml")
	}))
	a.inspector, err = inspect.New(t.TempDir(), cfg.HoldDir, n.RunDir, func(ctx context.Context, socket string) (engine.Rows, error) {
		return postgres.Server{}.OpenRows(ctx, socket, postgrestest.Password)
	})
	must(t, err)
	a.faults, err = fault.New(t.TempDir(), cfg.HoldDir, "uid", a.server, a.family)
	must(t, err)
	t.Cleanup(a.faults.Close)
	ctx, cancel := context.WithCancel(context.Background())
	var loops sync.WaitGroup
	loops.Go(func() { a.inspector.Run(ctx) })
	t.Cleanup(loops.Wait)
	t.Cleanup(cancel)
	return a
}

// copySelf brings the test binary to where an image sees it.
func copySelf(t *testing.T, dir string) string {
	t.Helper()
	self, err := os.Open("/proc/self/exe")
	must(t, err)
	defer self.Close()
	file := filepath.Join(dir, "replab")
	out, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY, 0o755)
	must(t, err)
	_, err = io.Copy(out, self)
	must(t, errors.Join(err, out.Close()))
	return file
}

// do carries a fault out and returns its record once it is concluded. hold is in milliseconds.
func (a *agent) do(t *testing.T, action wire.FaultAction, hold int64) wire.FaultRecord {
	t.Helper()
	name := strings.ToLower(string(action))
	_, err := a.faults.Put(wire.FaultRequest{Name: name, PodUID: "uid", Action: action, HoldMilliseconds: hold})
	must(t, err)
	var r wire.FaultRecord
	await(t, "the fault is concluded", func() bool {
		r, err = a.faults.Get(name)
		must(t, err)
		return r.Concluded
	})
	if !r.Confirmed {
		t.Fatalf("%+v", r)
	}
	return r
}

// cutOff stops the node from sending its log to others.
func (a *agent) cutOff(t *testing.T) {
	t.Helper()
	all, err := a.family.All()
	must(t, err)
	stopped := 0
	for _, p := range all {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.PID))
		if err == nil && strings.Contains(string(text), "walsender") {
			halt.Process(t, p.PID)
			stopped++
		}
	}
	if stopped == 0 {
		t.Fatalf("%s sends its log to nobody", a.node.Name)
	}
}

// start starts two nodes that wait for nobody.
func start(t *testing.T) []*patronitest.Node {
	t.Helper()
	return patronitest.Start(t, 2, engine.Settings{Durability: engine.Full, Manager: &engine.Manager{
		Synchronous: engine.SyncOff, TTL: 20 * time.Second, LoopWait: time.Second, RetryTimeout: 3 * time.Second,
		PrimaryStartTimeout: 5 * time.Minute, MaxLagBytes: 16 << 20,
	}})
}

func TestAnOldPrimaryIsReadBeforeItIsRewound(t *testing.T) {
	nodes := start(t)
	old, promoted := newAgent(t, nodes[0]), nodes[1]

	// A server that is killed alone is started in its place by the manager that it had.
	before, err := old.server.Find()
	must(t, err)
	all, err := old.family.All()
	must(t, err)
	old.do(t, wire.FaultKillServer, 0)
	await(t, "the server is started again", func() bool {
		now, err := old.server.Find()
		return err == nil && now != before && ids(t, old.node) != nil
	})
	if !all[0].Alive() {
		t.Error("the manager has ended with its server")
	}
	await(t, "it takes writes", func() bool { return insert(t, old.node, 1) == nil })
	await(t, "the other one has them", func() bool { return slices.Equal(ids(t, promoted), []uint64{1}) })

	old.cutOff(t)
	for _, id := range []int{10, 11, 12} {
		must(t, insert(t, old.node, id))
	}
	must(t, exec(t, old.node, "INSERT INTO probe_writes VALUES (7, 'x')"))
	old.do(t, wire.FaultKill, 0)
	if left, err := old.family.All(); !errors.Is(err, proc.ErrNone) {
		t.Fatalf("alive: %v, %v", left, err)
	}
	promoted.Await("it is the leader", "/leader")
	await(t, "it takes writes", func() bool { return insert(t, promoted, 2) == nil })
	giveAway(t, old.node)
	old.node.Run()
	await(t, "the old one follows", func() bool { return slices.Equal(ids(t, old.node), []uint64{1, 2}) })

	if log := old.node.Log(); strings.Contains(log, "already exists") {
		t.Errorf("the pid of its killed server was in the way:\n%s", log)
	}
	found := old.inspector.All().Inspections
	if len(found) != 1 || found[0].Error != "" || found[0].WAL == nil || *found[0].WriteIDs != 4 {
		t.Fatalf("inspected: %+v\n%s", found, old.node.Log())
	}
	if w := found[0].WAL; w.Error != "" || w.UserCommits != 3 || w.ProbeCommits != 1 || w.NewTimeline <= w.Timeline {
		t.Errorf("its log had %+v", w)
	}
	file, err := old.inspector.IDs()
	must(t, err)
	defer file.Close()
	held, err := ledger.ReadBitmap(file)
	must(t, err)
	for _, id := range []uint64{1, 10, 11, 12} {
		if !held.Has(id) {
			t.Errorf("it had %d, which nobody read", id)
		}
	}
	text, err := os.ReadFile(filepath.Join(old.node.RunDir, wire.RewindsFile))
	must(t, err)
	var note wire.RewindNote
	must(t, json.Unmarshal(text, &note)) // one alone
	if note.ExitCode != 0 || note.InspectedMilliseconds <= 0 {
		t.Errorf("noted %+v", note)
	}
}
