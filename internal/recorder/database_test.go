package recorder

import (
	"fmt"
	"os"
	"testing"
	"time"

	"replab.dev/internal/engine/mysql"
	"replab.dev/internal/engine/mysql/mysqltest"
	"replab.dev/internal/engine/postgres"
	"replab.dev/internal/engine/postgres/postgrestest"
	"replab.dev/internal/engine/secrettest"
	"replab.dev/internal/seed"
	"replab.dev/internal/wire"
)

// database is the servers of a path, of one engine.
type database struct {
	engine  string
	loader  seed.Open
	secrets string
	// nodes, the primary first, have the names that they call themselves by, and their ports in Host.
	nodes   []wire.Node
	servers []int  // the first process of each
	catchUp func() // returns once all have what the primary has
	unindex func() // has a write id be there more than once
}

// oneServer is the path with the least behind the app: whatever the recorder costs shows most.
func oneServer(t *testing.T) *path {
	p := newPath(t, mysqlServers(t, mysqltest.Start(t, "primary")))
	primary := endpoint(t, p.nodes[0].Host)
	p.begin(primary, primary)
	return p
}

// semiSyncPath is that of experiments/semisync.yaml: HAProxy, a primary and two replicas of which one acknowledges.
func semiSyncPath(t *testing.T) *path {
	haproxy := findHAProxy(t)
	var servers []*mysqltest.Server
	for i := range 3 {
		servers = append(servers, mysqltest.Start(t, fmt.Sprintf("db-%d", i), mysqltest.SemiSync(1, 10*time.Second)))
	}
	p := newPath(t, mysqlServers(t, servers...))
	for _, replica := range servers[1:] {
		replica.Replicate(servers[0])
	}
	servers[0].Exec("SET GLOBAL rpl_semi_sync_source_enabled=ON")
	admin := servers[0].DB(wire.AccountAdmin, "")
	eventually(t, "both replicas acknowledge", func() bool {
		var name, clients string
		err := admin.QueryRow("SHOW GLOBAL STATUS LIKE 'Rpl_semi_sync_source_clients'").Scan(&name, &clients)
		return err == nil && clients == "2"
	})
	p.begin(p.startHAProxy(haproxy))
	return p
}

// mysqlServers opens the first of them, which is to be the source of the others.
func mysqlServers(t *testing.T, servers ...*mysqltest.Server) database {
	t.Helper()
	servers[0].Open()
	d := database{
		engine: "MySQL", loader: seed.Opens(mysql.NewLoader), secrets: secrettest.SecretDir(t),
		catchUp: func() {
			for _, replica := range servers[1:] {
				replica.CatchUp(servers[0])
			}
		},
		unindex: func() { servers[0].Exec("ALTER TABLE social.users DROP INDEX write_id") },
	}
	for _, s := range servers {
		d.nodes = append(d.nodes, wire.Node{Name: s.Name, Host: fmt.Sprintf("127.0.0.1:%d", s.Port)})
		d.servers = append(d.servers, s.Process().Pid)
	}
	primary, err := os.Hostname() // a server calls itself by the host's name, which in a pod is the node's
	if err != nil {
		t.Fatal(err)
	}
	d.nodes[0].Name = primary
	return d
}

// quorumPath is that of experiments/patroni-quorum.yaml, but for Patroni, which writes do not pass: HAProxy, a primary and two standbys
// of which one acknowledges.
func quorumPath(t *testing.T) *path {
	haproxy := findHAProxy(t)
	size := postgrestest.Parameter("shared_buffers", "64MB") // as much as MySQL's
	primary := postgrestest.Start(t, "db-0", size)
	standbys := []*postgrestest.Server{primary.Standby("db-1", size), primary.Standby("db-2", size)}
	d := database{
		engine: "PostgreSQL", loader: seed.Opens(postgres.NewLoader), secrets: secrettest.SecretDir(t),
		catchUp: func() {
			for _, s := range standbys {
				s.CatchUp(primary)
			}
		},
		unindex: func() { primary.Exec("DROP INDEX users_write_id") },
	}
	for _, s := range append([]*postgrestest.Server{primary}, standbys...) {
		d.nodes = append(d.nodes, wire.Node{Name: s.Name, Host: fmt.Sprintf("%s:%d", s.Endpoint().Host, s.Port)})
		d.servers = append(d.servers, s.Process().Pid)
	}
	p := newPath(t, d)
	primary.Exec(`ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 ("db-1", "db-2")'`)
	primary.Exec("SELECT pg_reload_conf()")
	admin := primary.Connect(wire.AccountAdmin, "postgres")
	eventually(t, "both standbys acknowledge", func() bool {
		var n int
		err := admin.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'quorum'").Scan(&n)
		return err == nil && n == 2
	})
	p.begin(p.startHAProxy(haproxy))
	return p
}
