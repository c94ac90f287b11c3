package patronitest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"replab.dev/internal/agent/inspect"
	"replab.dev/internal/engine"
	"replab.dev/internal/engine/postgres"
	"replab.dev/internal/engine/postgres/patronitest"
	"replab.dev/internal/engine/postgres/postgrestest"
	"replab.dev/internal/wire"
)

// command is the environment variable that has the test binary be `replab server`.
const command = "REPLAB_TEST_COMMAND"

// wrapped is a node whose Patroni its start wrapper starts, as in its container. It has no data yet.
type wrapped struct {
	*patronitest.Node
	t      *testing.T
	script string // starts the wrapper
}

func wrap(t *testing.T, n *patronitest.Node, first string) *wrapped {
	t.Helper()
	dir := postgrestest.Dir(t)
	// What the wrapper is to fill in, instead of what the test had filled in.
	text, err := os.ReadFile(filepath.Join(n.RunDir, "patroni.yml"))
	must(t, err)
	template := strings.NewReplacer(n.Name, "@node@", n.Address, "@address@", postgrestest.Password, "@secret:"+wire.AccountAdmin+"@").Replace(string(text))
	cfg := wire.ServerConfig{
		Engine: "PostgreSQL", Server: []string{"postgres", "-D", n.DataDir}, Socket: postgres.Socket(n.RunDir, postgres.Port), DataDir: n.DataDir,
		HoldDir: filepath.Join(dir, "holds"), SecretDir: filepath.Join(dir, "secrets"), RunDir: n.RunDir, Inspect: true,
		Manager: &wire.ManagerConfig{
			Argv: []string{"patroni"}, Process: "patroni", Template: filepath.Join(dir, "template"), First: []string{first},
		},
	}
	document, err := json.Marshal(cfg)
	must(t, err)
	for _, folder := range []string{cfg.HoldDir, cfg.SecretDir} {
		must(t, os.Mkdir(folder, 0o700))
		postgrestest.Own(t, folder)
	}
	files := map[string]string{cfg.Manager.Template: template, filepath.Join(dir, "server.json"): string(document)}
	for _, account := range wire.Accounts() {
		files[filepath.Join(cfg.SecretDir, account)] = postgrestest.Password
	}
	for file, text := range files {
		must(t, os.WriteFile(file, []byte(text), 0o600))
		postgrestest.Own(t, file)
	}
	return &wrapped{Node: n, t: t, script: fmt.Sprintf("#!/bin/sh\nexport %s=%s %s=%s %s=server\nexec %s --config %s\n",
		wire.EnvPodName, n.Name, wire.EnvPodIP, n.Address, command, copySelf(t, dir), filepath.Join(dir, "server.json"))}
}

// copySelf brings the test binary to where an image sees it.
func copySelf(t *testing.T, dir string) string {
	t.Helper()
	self, err := os.Open("/proc/self/exe")
	must(t, err)
	defer self.Close()
	out, err := os.OpenFile(filepath.Join(dir, "replab"), os.O_CREATE|os.O_WRONLY, 0o755)
	must(t, err)
	_, err = io.Copy(out, self)
	must(t, errors.Join(err, out.Close()))
	return out.Name()
}

// Run starts the wrapper in the place of what it starts itself, which it writes anew.
func (w *wrapped) Run() {
	w.t.Helper()
	w.Replace("manager", w.script)
	w.Node.Run()
}

// started is what the wrapper noted of its last start.
func (w *wrapped) started() wire.Inspection {
	w.t.Helper()
	asked, err := inspect.Asked(w.RunDir)
	if err != nil || asked == nil || !asked.Final {
		w.t.Fatalf("the wrapper has noted %+v, %v", asked, err)
	}
	return asked.Inspection
}

// TestPatroniUnderItsWrapper starts a node without data, with its data, and with half a copy of them, with which Patroni alone would stay
// where it is.
func TestPatroniUnderItsWrapper(t *testing.T) {
	nodes := patronitest.Start(t, 2, engine.Settings{
		Durability: engine.Relaxed, Parameters: map[string]string{"shared_buffers": "32MB", "max_connections": "50"},
		Manager: &engine.Manager{
			Synchronous: engine.SyncOff, TTL: time.Minute, LoopWait: time.Second, RetryTimeout: 10 * time.Second,
			PrimaryStartTimeout: 5 * time.Minute, MaxLagBytes: 1 << 20,
		},
	})
	w := wrap(t, nodes[1], fmt.Sprintf("http://%s:8008/leader", nodes[0].Address))
	w.Stop()
	for _, c := range []struct {
		what  string
		lose  string // of its data
		noted func(wire.Inspection) bool
	}{
		{"without data", ".", func(i wire.Inspection) bool { return i.Fresh && !i.Intact && !i.Unfinished }},
		{"with its data", "", func(i wire.Inspection) bool { return i.Intact && !i.Fresh && !i.Unfinished }},
		{"with half of them", postgres.Server{}.CopiedLast(), func(i wire.Inspection) bool { return i.Unfinished && !i.Intact }},
	} {
		if c.lose != "" {
			must(t, os.RemoveAll(filepath.Join(w.DataDir, c.lose)))
		}
		w.Run()
		w.Await("it streams "+c.what, "/replica")
		if i := w.started(); !c.noted(i) {
			t.Errorf("a start %s is noted as %+v", c.what, i)
		}
		w.Stop()
		if _, err := os.Stat(filepath.Join(w.DataDir, "postmaster.pid")); !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("%s, told to stop: its server did not end in good order: %v", c.what, err)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
