package parameters_test

import (
	"math"
	"strings"
	"testing"

	"replab.dev/api/v1alpha1/validation"
	"replab.dev/internal/engine/family/parameters"
	mariadb "replab.dev/internal/engine/mariadb/parameters"
	mysql "replab.dev/internal/engine/mysql/parameters"
)

// TestMemoryOfABufferPool however its size is written.
func TestMemoryOfABufferPool(t *testing.T) {
	const beside = 384 << 20
	for value, want := range map[string]int64{
		"2g": 2 << 30, "2G": 2 << 30, "2048m": 2 << 30, "2048M": 2 << 30, "2097152k": 2 << 30, "2097152K": 2 << 30, "2147483648": 2 << 30, "+2g": 2 << 30,
		"1t": 1 << 40, "1P": 1 << 50, "1e": 1 << 60, "2GB": 2 << 30, "2gib": 2 << 30, "64M": 64 << 20, "7": 7, "7 M": 7,
		"many": 0, "": 0, "-1": 0, "9e": math.MaxInt64 - beside, "99999999999999999999": math.MaxInt64 - beside,
	} {
		for _, name := range []string{"innodb_buffer_pool_size", "innodb-buffer-pool-size", "innodb-buffer_pool-size"} {
			if got := parameters.Memory(map[string]string{name: value, "max_connections": "9g"}, 1); got.Bytes != want+beside {
				t.Errorf("%s=%s: %d bytes, want %d and what a server needs beside", name, value, got.Bytes, want)
			}
		}
	}
	for name, s := range map[string]validation.Server{"MySQL": mysql.Rules{}, "MariaDB": mariadb.Rules{}} {
		if got := s.Memory(nil); got != (validation.Need{Bytes: 512 << 20, Setting: "innodb_buffer_pool_size"}) {
			t.Errorf("%s needs %+v without a word of its pool, want 512 MiB", name, got)
		}
	}
}

// TestSizeOfTheRedoLog: each server has a setting of its own for it.
func TestSizeOfTheRedoLog(t *testing.T) {
	for setting, s := range map[string]validation.Server{"innodb_redo_log_capacity": mysql.Rules{}, "innodb_log_file_size": mariadb.Rules{}} {
		for value, want := range map[string]int64{"": 256 << 20, "8g": 8 << 30, "33554432": 32 << 20} {
			parameters := map[string]string{"innodb_buffer_pool_size": "9g"}
			if value != "" {
				parameters[strings.ReplaceAll(setting, "_", "-")] = value
			}
			if got := s.LogSize(parameters); got != (validation.Need{Bytes: want, Setting: setting}) {
				t.Errorf("%s=%q: %+v, want %d bytes", setting, value, got, want)
			}
		}
	}
}
