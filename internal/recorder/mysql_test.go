package recorder

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/engine/mysql/mysqltest"
	"replab.dev/internal/wire"
	"replab.dev/test/freeport"
)

// TestOnARealReplicationPair puts a recorder before a real social app on a real primary with a semi-sync replica.
func TestOnARealReplicationPair(t *testing.T) {
	primary := mysqltest.Start(t, "primary", mysqltest.SemiSync(1, 100*time.Millisecond))
	replica := mysqltest.Start(t, "replica", mysqltest.SemiSync(1, 100*time.Millisecond))
	primary.Open()
	replica.Replicate(primary)
	replica.CatchUp(primary)
	primary.Exec("SET GLOBAL rpl_semi_sync_source_enabled=ON")

	b := newBench(t, answering(http.StatusTeapot))
	b.cfg.App, _ = startSocial(t, wire.SocialConfig{
		Engine: "MySQL", SecretDir: b.cfg.SecretDir, Writes: primary.Endpoint(), Reads: replica.Endpoint(),
		PasswordHash: v1alpha1.PasswordSHA256,
	})
	machine, err := os.Hostname() // by which the app calls both servers
	if err != nil {
		t.Fatal(err)
	}
	b.cfg.Nodes = []wire.Node{{Name: machine, Host: "127.0.0.1"}, {Name: "replica", Host: "127.0.0.1"}}
	b.cfg.Writes = primary.Endpoint()
	ports := map[string]int{machine: primary.Port, "replica": replica.Port}
	b.env.server = func(n wire.Node) string { return net.JoinHostPort(n.Host, strconv.Itoa(ports[n.Name])) }
	admin := primary.DB(wire.AccountAdmin, wire.Database)

	t.Run("commit counters count the load's commits and nothing else", func(t *testing.T) {
		b := b.again(t)
		b.cfg.CountCommits = true
		w, _ := b.run()
		for range 5 { // as the seeding would
			primary.Exec("INSERT INTO social.users (first_name, last_name, password) VALUES ('seeded', 'user', '')")
		}
		w.probes.commits.sample(t.Context())
		for range 20 {
			b.mustRegister()
		}
		replica.Exec("STOP REPLICA IO_THREAD")
		for range 3 {
			b.mustRegister()
		}
		_, got := b.finish()
		if got.Commits == nil || got.Commits.DegradedCommits != 3 || got.Commits.DegradedCommitsAtMost < 3 || got.Commits.DegradedCommitsAtMost > 23 {
			t.Errorf("commits %+v, want 3 of 23 that were not acknowledged", got.Commits)
		}
		if len(got.Commits.Nodes) != 2 {
			t.Fatalf("commits of nodes %+v, want 2", got.Commits.Nodes)
		}
		for _, n := range got.Commits.Nodes {
			if n.Name == machine && (n.AcknowledgedWaits != 20 || n.UnacknowledgedWaits != 3) {
				t.Errorf("commits %+v, want 20 waits with an answer and 3 without", n)
			}
			if (n.LastWriteAt != nil) != (n.Name == machine) || n.Samples == 0 || n.UncountedMicroseconds != 0 {
				t.Errorf("commits %+v, want %s to have written, and all of it counted", n, machine)
			}
		}
		var present int64
		if err := admin.QueryRow("SELECT COUNT(*) FROM users WHERE write_id BETWEEN 1 AND 23").Scan(&present); err != nil {
			t.Fatal(err)
		}
		if present != 23 || got.Writes.Acknowledged != 23 || got.Writes.Sent != 23 {
			t.Errorf("%d rows, writes %+v, want 23 each", present, got.Writes)
		}
	})

	t.Run("what the servers ran with stands in the results", func(t *testing.T) {
		primary.Exec("DELETE FROM social.users WHERE write_id IS NOT NULL") // the next ledger begins at 1 again
		b := b.again(t)
		b.cfg.Settings = []wire.Setting{{Name: "sync_binlog", Value: "1"}, {Name: "log_bin", Value: "OFF"}}
		w, _ := b.run()
		eventually(t, "both servers are asked before the load", func() bool {
			return !slices.ContainsFunc(w.probes.inspection.result(), func(n wire.NodeSettings) bool { return n.Unread != "" })
		})
		b.mustRegister()
		primary.Exec("SET GLOBAL sync_binlog=0")
		_, got := b.finish()
		primary.Exec("SET GLOBAL sync_binlog=1")
		if len(got.Settings) != 2 || got.Settings[0].Identity == got.Settings[1].Identity || got.Settings[0].Version == "" {
			t.Fatalf("settings of nodes %+v, want those of 2 servers", got.Settings)
		}
		for _, n := range got.Settings {
			changed, wrong := n.Settings[0], n.Settings[1]
			if changed.Differs || (changed.Changed != nil) != (n.Node == machine) || !wrong.Differs || wrong.Changed != nil {
				t.Errorf("%s: %+v", n.Node, n.Settings)
			}
		}
	})

	t.Run("the probes measure lag and availability", func(t *testing.T) {
		replica.Exec("START REPLICA IO_THREAD")
		primary.Exec("DELETE FROM social.users WHERE write_id IS NOT NULL") // the next ledger begins at 1 again
		replica.CatchUp(primary)
		b := b.again(t)
		b.cfg.LagIntervalMilliseconds, b.cfg.LagPayloadBytes = 20, []int64{100}
		b.cfg.AvailabilityIntervalMilliseconds = 20
		w, _ := b.run()
		request, err := http.NewRequest(http.MethodGet, "http://"+b.cfg.Listen+wire.SocialPathSearch, nil)
		if err != nil {
			t.Fatal(err)
		}
		discarded := slices.IndexFunc(b.cfg.Stages, func(s wire.Stage) bool { return s.Discard })
		request.Header.Set(wire.HeaderStage, b.cfg.Stages[discarded].Name)
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		eventually(t, "lag is probed in a stage that is discarded", func() bool { return w.probes.lag.Result().Uncounted > 5 })
		if r := w.probes.lag.Result(); r.Acknowledged != 0 {
			t.Errorf("%d of its writes count for the lag", r.Acknowledged)
		}
		eventually(t, "the lag of the replica is seen in the load", func() bool {
			b.mustRegister()
			_, body := b.get(b.control(wire.RecorderPathMetrics))
			return strings.Contains(string(body), `replab_recorder_lag_seconds{node="replica"}`)
		})
		_, got := b.finish()
		if got.Lag == nil || len(got.Lag.Nodes) != 2 || got.Lag.Nodes[1].Samples == 0 || got.Lag.P50Microseconds == nil {
			t.Errorf("lag %+v", got.Lag)
		}
		if a := got.Availability; a.Acknowledged == 0 || slices.ContainsFunc(a.Gaps, func(g wire.Gap) bool { return g.LastNode != g.NextNode }) {
			t.Errorf("availability %+v, want writes acknowledged by one node", a)
		}
		if i := slices.IndexFunc(got.Timeline, func(s wire.Second) bool { return len(s.LagMicroseconds) == 2 && s.LagMicroseconds[1] >= 0 }); i < 0 {
			t.Errorf("no lag in the timeline %+v", got.Timeline)
		}
		var probes, users int64
		err = errors.Join(admin.QueryRow("SELECT COUNT(*) FROM probe_writes").Scan(&probes),
			admin.QueryRow("SELECT COUNT(*) FROM users WHERE write_id IS NOT NULL").Scan(&users))
		if err != nil {
			t.Fatal(err)
		}
		if want := got.Availability.Acknowledged + got.Lag.Acknowledged + got.Lag.Uncounted; probes < want || users != got.Writes.Acknowledged {
			t.Errorf("%d probe rows, %d were acknowledged; %d users, %d were acknowledged", probes, want, users, got.Writes.Acknowledged)
		}
	})
}

// again returns a bench with files and a ConfigMap of its own.
func (b *bench) again(t *testing.T) *bench {
	t.Helper()
	fresh := *b
	fresh.t, fresh.board = t, &memory{}
	fresh.env.board = fresh.board
	fresh.cfg.LedgerPath = filepath.Join(t.TempDir(), "ledger")
	fresh.cfg.Listen, fresh.cfg.ListenControl = freeport.Address(t), freeport.Address(t)
	return &fresh
}

func (b *bench) mustRegister() {
	b.t.Helper()
	r, err := http.Post("http://"+b.cfg.Listen+wire.SocialPathRegister, "application/json",
		strings.NewReader(`{"first_name":"Ada","second_name":"Lovelace","password":"x"}`))
	if err != nil {
		b.t.Fatal(err)
	}
	defer r.Body.Close()
	if body, err := io.ReadAll(r.Body); err != nil || !successful(r.StatusCode) {
		b.t.Fatalf("register: %d %s, %v", r.StatusCode, body, err)
	}
}
