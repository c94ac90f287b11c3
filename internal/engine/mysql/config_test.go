package mysql

import (
	"slices"
	"strings"
	"testing"

	"replab.dev/internal/engine"
	names "replab.dev/internal/engine/family/parameters"
)

// free are settings that are written and may be set again below.
var free = []string{
	"skip-name-resolve", "innodb-buffer-pool-size", "innodb-redo-log-capacity", "innodb-log-buffer-size",
	"max-connections", "performance-schema-consumer-events-statements-history", "performance-schema-consumer-events-statements-current",
}

// TestWhatTheConfigurationSetsIsReservedOrASize: a setting that replab writes for a reason must not be set again below.
func TestWhatTheConfigurationSetsIsReservedOrASize(t *testing.T) {
	p := Server{}.Program(engine.Place{}, engine.Settings{SemiSync: &engine.SemiSync{}, Pair: &engine.Pair{}})
	for line := range strings.Lines(p.Config) {
		name, _, set := strings.Cut(line, "=")
		if set && (Server{}).Reserved().Find(names.PlainName(name)) == nil && !slices.Contains(free, name) {
			t.Errorf("%s is written and not reserved", name)
		}
	}
}

func TestDurabilityDecidesHowLogsReachTheDisk(t *testing.T) {
	for d, want := range map[engine.Durability][2]string{
		engine.Full: {"1", "1"}, engine.Relaxed: {"2", "0"}, engine.Volatile: {"0", "0"},
	} {
		config := Server{}.Program(engine.Place{}, engine.Settings{Durability: d}).Config
		for i, line := range []string{"innodb-flush-log-at-trx-commit=" + want[0], "sync-binlog=" + want[1]} {
			if !slices.Contains(strings.Split(config, "\n"), line) {
				t.Errorf("%s: line %d is not %q:\n%s", d, i, line, config)
			}
		}
	}
}
