package mariadb_test

import (
	"strings"
	"testing"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/mariadb"
	"replab.dev/internal/engine/mariadb/mariadbtest"
)

// TestTheBeginningOfANameIsNoName: by itself the server takes one for the setting that begins so, and a reserved setting could be set by it.
func TestTheBeginningOfANameIsNoName(t *testing.T) {
	for name, taken := range map[string]bool{"debug-no-sy": false, "innodb-buffer-pool-si": false, "max-connections": true} {
		dir := t.TempDir()
		place := engine.Place{ConfigDir: dir, DataDir: dir, RunDir: dir, TmpDir: dir, Port: 3306}
		program := mariadb.Server{}.Program(place, engine.Settings{Durability: engine.Full, Parameters: map[string]string{name: "100"}})
		switch err := mariadbtest.Read(t, program.Config); {
		case taken && err != nil:
			t.Errorf("the server does not take %s: %v", name, err)
		case !taken && (err == nil || !strings.Contains(err.Error(), name)):
			t.Errorf("the server takes %s, or says something else: %v", name, err)
		}
	}
}
