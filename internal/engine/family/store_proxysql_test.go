package family_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/engine"
	"replab.dev/internal/engine/enginetest"
	"replab.dev/internal/engine/family/familytest"
	"replab.dev/internal/proxy"
	"replab.dev/internal/proxy/proxysql"
	"replab.dev/internal/topology"
	"replab.dev/internal/wire"
	"replab.dev/test/freeport"
)

// nodesPort is that of an experiment's servers, in whose place stand those of the tests.
const nodesPort = 3306

// realProxySQL is the program that REPLAB_PROXYSQL names. No package has ProxySQL: where there is none the test is skipped.
func realProxySQL(t *testing.T) string {
	t.Helper()
	binary := os.Getenv("REPLAB_PROXYSQL")
	if binary == "" {
		t.Skip("REPLAB_PROXYSQL names no ProxySQL")
	}
	return binary
}

// startProxySQL runs a real ProxySQL in front of servers, with the configuration that an experiment has, and returns a store behind it.
func startProxySQL(t *testing.T, queryRetries int32, servers ...*familytest.Server) store {
	t.Helper()
	binary := realProxySQL(t)
	p := proxy.Params{
		Name: "x", Routes: topology.Routes{Port: nodesPort}, ReadsReplicas: true,
		Spec: v1alpha1.RoutingSpec{
			Check:    v1alpha1.RoutingCheck{IntervalMilliseconds: 250, Fall: 2, Rise: 1},
			ProxySQL: &v1alpha1.ProxySQLSpec{QueryRetries: queryRetries},
		},
	}
	for i := range servers {
		p.Nodes = append(p.Nodes, wire.Node{Host: fmt.Sprintf("server-%d", i)})
	}
	dir, ports := t.TempDir(), map[int]int{wire.PortProxyWrites: freeport.Ports(t, 1), wire.PortProxyReads: freeport.Ports(t, 1)}
	text := (proxysql.Driver{}).System(p).Files["proxysql.cnf"]
	for i, s := range servers { // all have one address here, and ports of their own
		text = strings.Replace(text, fmt.Sprintf(`address="server-%d", port=%d`, i, nodesPort), fmt.Sprintf(`address="127.0.0.1", port=%d`, s.Port), 1)
	}
	for asked, port := range ports {
		text = regexp.MustCompile(fmt.Sprintf(`(0\.0\.0\.0:|proxy_port=)%d\b`, asked)).ReplaceAllString(text, "${1}"+strconv.Itoa(port))
	}
	for was, is := range map[string]string{
		`"/run/replab"`: `"` + dir + `"`, "0.0.0.0:": "127.0.0.1:", "127.0.0.1:6032": freeport.Address(t),
		"restapi_enabled=true": "restapi_enabled=false", "@@hostname": "CAST.@@port AS CHAR.", // servers of one machine share its name
	} {
		text = strings.ReplaceAll(text, was, is)
	}
	file := filepath.Join(dir, "proxysql.cnf")
	text = regexp.MustCompile(`@secret:[a-z_]+@`).ReplaceAllString(text, familytest.Password)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, "-f", "--initial", "--no-version-check", "-c", file, "-D", dir)
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = log, log, &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // it forks
		_ = cmd.Wait()
		if text, err := os.ReadFile(log.Name()); err == nil && t.Failed() {
			t.Logf("ProxySQL said:\n%s", text)
		}
	})
	paths := (proxysql.Driver{}).System(p).Paths
	return openStore(t, servers[0], wire.Endpoint{Host: "127.0.0.1", Port: ports[wire.PortProxyWrites]}, "SELECT CAST(@@port AS CHAR)", func(c *wire.SocialConfig) {
		c.Reads.Port, c.NotSent = ports[wire.PortProxyReads], paths.NotSent
	})
}

func writeOf(id uint64) engine.NewUser {
	return engine.NewUser{WriteID: &id, FirstName: "Ada", LastName: "Stone", PasswordHash: []byte("x")}
}

// until does something again and again until it says that it is done.
func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) { // between two tries
		if done() {
			return
		}
	}
	t.Fatalf("not within a minute: %s", what)
}

// TestBehindProxySQL: reads of users go to the replica, all else to the primary; each answer names its server, also on connections that
// outlive a primary; what was not sent is told so.
func TestBehindProxySQL(t *testing.T) {
	realProxySQL(t)
	enginetest.Each(t, behindProxySQL)
}

func behindProxySQL(t *testing.T, f familytest.Flavor) {
	primary, replica := f.Start(t, "primary"), f.Start(t, "replica")
	primary.Open()
	replica.Replicate(primary)
	s := startProxySQL(t, 0, primary, replica)
	ctx := t.Context()
	id := uint64(0)
	register := func() (uint64, string, error) {
		id++
		return s.Register(ctx, writeOf(id))
	}
	until(t, "the primary takes a write through the proxy", func() bool {
		_, _, err := register()
		return err == nil
	})
	for range 20 {
		user, node, err := register()
		if err != nil || node != strconv.Itoa(primary.Port) {
			t.Fatalf("a write was answered by %s, %v; the primary is %d", node, err, primary.Port)
		}
		replica.CatchUp(primary)
		if _, node, err := s.Profile(ctx, user); err != nil || node != strconv.Itoa(replica.Port) {
			t.Fatalf("a read was answered by %s, %v; the replica is %d", node, err, replica.Port)
		}
	}
	primary.Kill()
	until(t, "a write is refused before it was sent", func() bool {
		_, _, err := register()
		var r *engine.Rejection
		return errors.As(err, &r) && r.Reason == wire.RejectedNotSent
	})
	replica.Exec("STOP REPLICA")
	replica.Open()
	until(t, "the new primary takes writes", func() bool {
		_, node, err := register()
		if err == nil && node != strconv.Itoa(replica.Port) {
			t.Fatalf("a write to the new primary names %s", node)
		}
		return err == nil
	})
}

// TestProxySQLSendsAWriteTwiceOnlyWhenAskedTo: the primary dies while a commit waits for a replica's acknowledgement. The row is in its
// log and nobody has told the client.
func TestProxySQLSendsAWriteTwiceOnlyWhenAskedTo(t *testing.T) {
	realProxySQL(t)
	enginetest.Each(t, func(t *testing.T, f familytest.Flavor) {
		t.Run("by default", func(t *testing.T) { diesWhileACommitWaits(t, f, 0, false, 0) })
		t.Run("when asked to", func(t *testing.T) { diesWhileACommitWaits(t, f, 1, true, 1) })
	})
}

// diesWhileACommitWaits wants so many rows on the new primary.
func diesWhileACommitWaits(t *testing.T, f familytest.Flavor, retries int32, acknowledged bool, rows int) {
	old, next := f.Start(t, "old", familytest.SemiSync(1, time.Minute)), f.Start(t, "next")
	old.Open()
	s := startProxySQL(t, retries, old, next)
	until(t, "the proxy has found the primary", func() bool { return s.Ping(t.Context()) == nil })
	old.Exec(f.AwaitSQL)
	answered := make(chan error, 1)
	go func() {
		_, _, err := s.Register(t.Context(), writeOf(1))
		answered <- err
	}()
	waiting := old.DB(wire.AccountAdmin, "")
	until(t, "the commit waits", func() bool {
		var name, sessions string
		return waiting.QueryRow("SHOW STATUS LIKE 'Rpl_semi_sync_%_wait_sessions'").Scan(&name, &sessions) == nil && sessions == "1"
	})
	old.Kill()
	next.Open()
	err := <-answered
	var r *engine.Rejection
	if (err == nil) != acknowledged || errors.As(err, &r) {
		t.Errorf("the write's end is %v, want acknowledged %t, and never rejected", err, acknowledged)
	}
	old.Run()
	if n := count(t, old, "write_id = 1"); n != 1 {
		t.Errorf("the old primary has %d rows of the write", n)
	}
	if n := count(t, next, "write_id = 1"); n != rows {
		t.Errorf("the new primary has %d rows of the write, want %d", n, rows)
	}
}
