package mysql_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/mysql"
	"replab.dev/internal/engine/mysql/mysqltest"
	"replab.dev/internal/wire"
)

// ownToMembers are the settings that only servers of Percona XtraDB Cluster know.
var ownToMembers = regexp.MustCompile(`(?m)^(wsrep|pxc)[-_]`)

// startMember starts a server by a member's configuration. It knows no groups: what only members know is made loose. It returns what a
// member is expected to report.
func startMember(t *testing.T) (*mysqltest.Server, []wire.Setting) {
	t.Helper()
	var settings engine.Settings
	s := mysqltest.Prepare(t, "member", func(of *engine.Settings) {
		of.Durability, of.Group = engine.Full, &engine.Group{Name: "ns/a", SyncWait: 1, SuspectMilliseconds: 1500}
		settings = *of
	})
	file, err := mysql.Server{}.Private(engine.MemberParams{Name: "a-db-0", Address: "127.0.0.1", Donors: []string{"a-db-1"}})
	must(t, err)
	config := filepath.Join(s.Dir, "my.cnf")
	shared, err := os.ReadFile(config)
	must(t, err)
	for path, text := range map[string]string{
		config: string(shared), filepath.Join(filepath.Dir(s.Socket), file.Name): file.Content + "max-connections=77\n",
	} {
		must(t, os.WriteFile(path, []byte(ownToMembers.ReplaceAllString(text, "loose-$0")), 0o600))
	}
	s.Initialize()
	s.Run()
	t.Cleanup(s.Kill)
	return s, mysql.Server{}.Expected(settings)
}

// TestAServerRunsAsAMemberIsToldTo, as far as it can without a group: it knows each setting, reads the member's own file, and what
// follows that as well.
func TestAServerRunsAsAMemberIsToldTo(t *testing.T) {
	s, expected := startMember(t)
	want := map[string]string{"max_connections": "77", "innodb_buffer_pool_size": mysqltest.Flavor.Parameters["innodb-buffer-pool-size"]}
	for _, e := range expected {
		if !ownToMembers.MatchString(e.Name) && !e.AnyValue {
			want[e.Name] = e.Value
		}
	}
	if len(want) < 12 || want["gtid_mode"] != "OFF" || want["sync_binlog"] != "1" {
		t.Fatalf("a member is expected to have %v", want)
	}
	var names []string
	for name := range want {
		names = append(names, name)
	}
	found, err := mysql.NewInspector(mysqltest.Password).Inspect(t.Context(), fmt.Sprintf("127.0.0.1:%d", s.Port), names)
	must(t, err)
	for name, value := range want {
		if !strings.EqualFold(found.Settings[name], value) {
			t.Errorf("%s is %q, want %q", name, found.Settings[name], value)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
