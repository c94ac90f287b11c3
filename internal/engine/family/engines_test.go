package family_test

import (
	"testing"

	"replab.dev/internal/engine/family"
	"replab.dev/internal/engine/family/familytest"
	"replab.dev/internal/engine/mariadb"
	"replab.dev/internal/engine/mariadb/mariadbtest"
	"replab.dev/internal/engine/mysql"
	"replab.dev/internal/engine/mysql/mysqltest"
	"replab.dev/internal/wire"
)

// member is an engine of the family as the tests of what is shared need it.
type member struct {
	familytest.Flavor
	store    func(wire.SocialConfig, string) (*family.Store, error)
	loader   func(wire.Endpoint, string) (*family.Loader, error)
	counters func(host, password string) (*family.Counters, error)
	// together has several commits flushed at once. alwaysWaits tells that each then waits by itself.
	together    []familytest.Option
	alwaysWaits bool
	// alwaysCounts tells that a server has counters of commits whatever it was started for.
	alwaysCounts bool
	lockWaitSQL  string // counts who waits for a lock
}

var members = map[string]member{
	"MySQL": {
		Flavor: mysqltest.Flavor, store: mysql.NewStore, loader: mysql.NewLoader, counters: mysql.NewCounters,
		together:    []familytest.Option{familytest.Parameter("binlog_group_commit_sync_delay", "5000")},
		lockWaitSQL: "SELECT COUNT(*) FROM performance_schema.data_lock_waits",
	},
	"MariaDB": {
		Flavor: mariadbtest.Flavor, store: mariadb.NewStore, loader: mariadb.NewLoader, counters: mariadb.NewCounters, alwaysCounts: true,
		together:    []familytest.Option{familytest.Parameter("binlog_commit_wait_count", "16"), familytest.Parameter("binlog_commit_wait_usec", "5000")},
		alwaysWaits: true,
		lockWaitSQL: "SELECT COUNT(*) FROM information_schema.INNODB_LOCK_WAITS",
	},
}

// forEach runs a test for every engine of the family.
func forEach(t *testing.T, test func(*testing.T, member)) {
	for name, m := range members {
		t.Run(name, func(t *testing.T) { test(t, m) })
	}
}

func of(s *familytest.Server) member { return members[s.Flavor.Engine] }
