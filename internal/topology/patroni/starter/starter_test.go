package starter

import (
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"replab.dev/internal/agent/agenttest"
	"replab.dev/internal/agent/inspect"
	"replab.dev/internal/agent/notes"
	"replab.dev/internal/engine"
	"replab.dev/internal/starter"
	"replab.dev/internal/wire"
)

// scripted is an engine whose manager ends at once.
type scripted struct{ engine.Starter }

const scriptedEnds = 7

func (scripted) Manager(p engine.ManagerParams) engine.Start {
	return engine.Start{Argv: []string{"sh", "-c", `. "$HOME/hook"`}, Env: []string{"HOME=" + p.RunDir}}
}

func (scripted) Files(template string, p engine.ManagerParams) []engine.RunFile {
	return []engine.RunFile{
		{Name: "conf", Content: template + p.Name + " " + p.Address + " " + p.Binary}, {Name: "hook", Content: "exit 7\n", Executable: true},
	}
}

func (scripted) Rewind([]string) (engine.RewindCall, error) { return engine.RewindCall{}, nil }

func (scripted) CopiedLast() string { return "last" }

func (scripted) WantsRestart(int) bool { return false }

func (scripted) Alone([]string, engine.StartParams) engine.Start { return engine.Start{} }

var scriptedEngines = engine.Lookup[engine.Starter]{"Scripted": scripted{}}

// managedNode is a node whose server a manager runs, and that has no data yet.
func managedNode(t *testing.T, name string) wire.ServerConfig {
	t.Helper()
	t.Setenv(wire.EnvPodName, name)
	t.Setenv(wire.EnvPodIP, "10.0.0.9")
	dir := t.TempDir()
	cfg := wire.ServerConfig{
		Engine: "Scripted", Server: []string{"server", "-D", filepath.Join(dir, "volume", "data")}, DataDir: filepath.Join(dir, "volume", "data"),
		HoldDir: filepath.Join(dir, "holds"), RunDir: filepath.Join(dir, "run"), SecretDir: filepath.Join(dir, "secrets"),
		Manager: &wire.ManagerConfig{Argv: []string{"manager"}, Process: "manager", Template: filepath.Join(dir, "template")},
	}
	for _, folder := range []string{cfg.RunDir, cfg.SecretDir, filepath.Dir(cfg.DataDir)} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for file, text := range map[string]string{cfg.Manager.Template: "password @secret:replab_admin@ of ", filepath.Join(cfg.SecretDir, "replab_admin"): "S3cret\n"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cfg
}

// withData gives a node some, in a folder that others may read.
func withData(t *testing.T, cfg wire.ServerConfig) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(cfg.DataDir, "base"), 0o775); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(cfg.DataDir, scripted{}.CopiedLast()), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(cfg.DataDir, 0o2775); err != nil {
		t.Fatal(err)
	}
}

// runs has the wrapper run until its manager has ended.
func runs(t *testing.T, cfg wire.ServerConfig) {
	t.Helper()
	if code, err := starter.Run(t.Context(), cfg, scriptedEngines, []starter.Family{Family}); err != nil || code != scriptedEnds {
		t.Fatalf("the wrapper ends with %d, %v; want the manager's %d", code, err, scriptedEnds)
	}
}

func TestAManagerFindsItsFiles(t *testing.T) {
	cfg := managedNode(t, "a-db-0")
	withData(t, cfg)
	runs(t, cfg)
	text, err := os.ReadFile(filepath.Join(cfg.RunDir, "conf"))
	if want := "password S3cret of a-db-0 10.0.0.9 /opt/replab/replab"; err != nil || string(text) != want {
		t.Errorf("its configuration is %q, %v; want %q", text, err, want)
	}
	for file, want := range map[string]os.FileMode{
		filepath.Join(cfg.RunDir, "conf"): 0o600, filepath.Join(cfg.RunDir, "hook"): 0o700, cfg.DataDir: 0o700,
	} {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s: %v, want %v", file, got, want)
		}
	}
}

func TestAManagerIsNotStartedWithHalfItsFiles(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*testing.T, *wire.ServerConfig)
		says  string
	}{
		"no template": {func(_ *testing.T, cfg *wire.ServerConfig) { cfg.Manager.Template += ".none" }, "template.none"},
		"no secret":   {func(_ *testing.T, cfg *wire.ServerConfig) { cfg.SecretDir += "-none" }, "write conf"},
		"no address":  {func(t *testing.T, _ *wire.ServerConfig) { t.Setenv(wire.EnvPodIP, "") }, wire.EnvPodIP},
		"no folder":   {func(_ *testing.T, cfg *wire.ServerConfig) { cfg.RunDir = "" }, `"runDir"`},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := managedNode(t, "a-db-0")
			c.spoil(t, &cfg)
			if code, err := starter.Run(t.Context(), cfg, scriptedEngines, []starter.Family{Family}); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("it ends with %d, %v; want an error with %q", code, err, c.says)
			}
		})
	}
}

// others are managers of other nodes, of which none has data until it is told so.
type others struct {
	made  atomic.Bool
	asked atomic.Int64
	url   string
}

func newOthers(t *testing.T) *others {
	o := &others{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		o.asked.Add(1)
		if !o.made.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(server.Close)
	o.url = server.URL
	return o
}

func TestANodeWithoutDataWaitsForTheFirst(t *testing.T) {
	cfg, o := managedNode(t, "a-db-2"), newOthers(t)
	cfg.Manager.First = []string{"http://127.0.0.1:1/leader", o.url}
	ended := make(chan error, 1)
	go func() {
		_, err := starter.Run(t.Context(), cfg, scriptedEngines, []starter.Family{Family})
		ended <- err
	}()
	agenttest.Eventually(t, "the others are asked again", func() bool { return o.asked.Load() > 1 })
	if _, err := os.Stat(filepath.Join(cfg.RunDir, "conf")); err == nil {
		t.Fatal("the manager's files are there while nobody has data")
	}

	o.made.Store(true)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}

func TestAHoldThatIsPutWhileANodeWaitsForTheFirstStands(t *testing.T) {
	cfg, o := managedNode(t, "a-db-2"), newOthers(t)
	cfg.Manager.First = []string{o.url}
	way, err := Family(&starter.Node{Config: cfg, Engine: scripted{}, Ordinal: 2})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := way.Prepare(t.Context())
		ended <- err
	}()
	agenttest.Eventually(t, "the others are asked", func() bool { return o.asked.Load() > 0 })
	if err := notes.PutHold(cfg.HoldDir, notes.Hold{Fault: "crash"}); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, starter.ErrHeld) {
		t.Errorf("error is %v", err)
	}
}

func TestTheFirstNodeAndOneWithDataWaitForNobody(t *testing.T) {
	o := newOthers(t)
	first := managedNode(t, "a-db-0")
	first.Manager.First = []string{o.url}
	runs(t, first)
	later := managedNode(t, "a-db-2")
	later.Manager.First = []string{o.url}
	withData(t, later)
	runs(t, later)
	if n := o.asked.Load(); n > 0 {
		t.Errorf("others were asked %d times", n)
	}
}

func TestANodeWaitsForTheFirstNotForGood(t *testing.T) {
	cfg, o := managedNode(t, "a-db-2"), newOthers(t)
	cfg.Manager.First = []string{o.url}
	m := &managed{Node: &starter.Node{Config: cfg, Engine: scripted{}, Ordinal: 2}, engine: scripted{}, http: http.DefaultClient}
	if how, err := m.Prepare(t.Context()); err != nil || len(how.Argv) == 0 {
		t.Errorf("it is started as %v, %v", how.Argv, err)
	}
}

func TestStartsByAManagerAreNoted(t *testing.T) {
	cfg := managedNode(t, "a-db-0")
	cfg.Inspect = true
	var starts []wire.Inspection
	noted := func() {
		runs(t, cfg)
		asked, err := inspect.Asked(cfg.RunDir)
		if err != nil || asked == nil || !asked.Final || asked.Socket != "" {
			t.Fatalf("the agent is told %+v, %v", asked, err)
		}
		starts = append(asked.Earlier, asked.Inspection)
	}
	noted()
	if len(starts) != 1 || !starts[0].Fresh || starts[0].Intact || starts[0].Unfinished {
		t.Errorf("a start without data: %+v", starts)
	}
	withData(t, cfg)
	noted()
	if len(starts) != 2 || !starts[0].Fresh || starts[1].Fresh || !starts[1].Intact {
		t.Errorf("then one with data: %+v", starts)
	}
	noted()
	if len(starts) != 3 || !starts[0].Fresh {
		t.Errorf("and one more: %+v", starts)
	}
	if err := inspect.Keep(cfg.HoldDir, starts[2].ID); err != nil {
		t.Fatal(err)
	}
	noted()
	if len(starts) != 1 || !starts[0].Intact {
		t.Errorf("after the agent has kept them: %+v", starts)
	}
}

func TestHalfACopyIsRemoved(t *testing.T) {
	cfg := managedNode(t, "a-db-0")
	cfg.Inspect = true
	withData(t, cfg)
	if err := os.Remove(filepath.Join(cfg.DataDir, scripted{}.CopiedLast())); err != nil {
		t.Fatal(err)
	}
	runs(t, cfg)
	if _, err := os.Stat(cfg.DataDir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
	asked, err := inspect.Asked(cfg.RunDir)
	if err != nil || asked == nil || !asked.Unfinished || asked.Intact || asked.Fresh {
		t.Errorf("the agent is told %+v, %v", asked, err)
	}
}
