package recorder

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/mysql"
	"replab.dev/internal/engine/postgres"
	"replab.dev/internal/lag"
	"replab.dev/internal/process"
	"replab.dev/internal/social"
	"replab.dev/internal/wire"
	"replab.dev/test/freeport"
)

// childConfig is the environment variable that makes the test binary a recorder with the configuration in that file.
const childConfig = "REPLAB_TEST_RECORDER"

// childSocial is the same for a social app.
const childSocial = "REPLAB_TEST_SOCIAL"

// probed is what the probes ask of the servers, which are MySQL's but in benches.
var probed = Engine{Lag: lag.Opens(mysql.NewLag), Commits: Counts(mysql.NewCounters), Inspector: mysql.NewInspector}

// engines are what processes of their own ask of the servers.
var (
	engines = engine.Lookup[Engine]{
		"MySQL":      probed,
		"PostgreSQL": {Lag: lag.Opens(postgres.NewLag), Commits: Counts(postgres.NewCounters), Inspector: postgres.NewInspector},
	}
	stores = engine.Lookup[social.Open]{"MySQL": social.Opens(mysql.NewStore), "PostgreSQL": social.Opens(postgres.NewStore)}
)

func TestMain(m *testing.M) {
	if file := os.Getenv(childConfig); file != "" {
		become(child(file))
	}
	if file := os.Getenv(childSocial); file != "" {
		command := social.Command(stores)
		command.SetArgs([]string{"--config", file})
		become(command.Execute())
	}
	os.Exit(m.Run())
}

// become ends a process that was another program than the tests.
func become(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0) // the race detector makes it 66
}

// child is a recorder in a process of its own, which can be killed.
func child(file string) error {
	var cfg wire.RecorderConfig
	if err := process.LoadConfig(file, &cfg); err != nil {
		return err
	}
	asked, err := engines.For(cfg.Engine)
	if err != nil {
		return err
	}
	ctx, cancel := process.Context()
	defer cancel()
	nowhere := func(wire.Node) string { return "127.0.0.1:1" }
	server := func(n wire.Node) string { return n.Host } // with its port: all are on one machine
	w, err := open(ctx, cfg, environment{board: &memory{}, engine: asked, server: server, agent: nowhere})
	if err != nil {
		return err
	}
	if os.Getenv(childHTTP) != "" {
		w.listen = serveNetHTTP
		w.forwarder.app = newNetClient(net.JoinHostPort(cfg.App.Host, strconv.Itoa(cfg.App.Port)))
	}
	return w.serve(ctx)
}

// startProcess starts this test binary as another program: kind is the environment variable that names its configuration.
// It ends with the test at the latest.
func startProcess(t testing.TB, kind string, cfg any) *exec.Cmd {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config.json")
	text, err := json.Marshal(cfg)
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), kind+"="+file)
	if kind == childConfig {
		cmd.Env = append(cmd.Env, "GODEBUG="+wire.RecorderGoDebug)
	}
	cmd.Stderr = t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // most have ended
	return cmd
}

// startSocial runs `replab social` in a process of its own until the test ends.
func startSocial(t testing.TB, cfg wire.SocialConfig) (wire.Endpoint, *exec.Cmd) {
	t.Helper()
	listen := freeport.Address(t)
	cfg.Listen, cfg.MaxConnections, cfg.MaxInFlight, cfg.RequestTimeoutMilliseconds = listen, 64, 1024, 5000
	cmd := startProcess(t, childSocial, cfg)
	t.Cleanup(func() {
		if err := errors.Join(cmd.Process.Signal(syscall.SIGTERM), cmd.Wait()); err != nil {
			t.Errorf("the social app ended: %v", err)
		}
	})
	eventually(t, "the social app is ready", func() bool {
		r, err := http.Get("http://" + listen + wire.SocialPathReady)
		if err != nil {
			return false
		}
		r.Body.Close()
		return r.StatusCode == http.StatusOK
	})
	return endpoint(t, listen), cmd
}

// endpoint takes a host:port apart.
func endpoint(t testing.TB, address string) wire.Endpoint {
	t.Helper()
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	return wire.Endpoint{Host: host, Port: number}
}
