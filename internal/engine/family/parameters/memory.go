package parameters

import (
	"math"
	"strconv"
	"strings"

	"replab.dev/api/v1alpha1/validation"
)

const (
	// besidePool is what a server needs beside its buffer pool.
	besidePool = 384 << 20
	poolName   = "innodb_buffer_pool_size"
)

// Memory does as validation.Server's Memory says, for a server whose buffer pool has this size if the parameters name none. A size that
// is none counts as nothing: the server says so itself.
func Memory(parameters map[string]string, pool int64) validation.Need {
	for name, value := range parameters {
		if PlainName(name) == hyphens(poolName) {
			pool = size(value)
		}
	}
	return validation.Need{Bytes: min(pool, math.MaxInt64-besidePool) + besidePool, Setting: poolName}
}

// LogSize does as validation.Server's LogSize says, for a server whose redo log has this size if the parameters have no setting of this name.
func LogSize(parameters map[string]string, setting string, log int64) validation.Need {
	for name, value := range parameters {
		if PlainName(name) == hyphens(setting) {
			log = size(value)
		}
	}
	return validation.Need{Bytes: log, Setting: setting}
}

// size reads bytes as the servers do: a number, and a letter of either case for a power of 1024. What follows it they do not read.
func size(value string) int64 {
	value = strings.TrimPrefix(strings.TrimSpace(value), "+")
	digits := strings.IndexFunc(value, func(r rune) bool { return r < '0' || r > '9' })
	power := 0
	if digits < 0 {
		digits = len(value)
	} else {
		power = 1 + strings.IndexByte("kmgtpe", value[digits]|0x20)
	}
	n, err := strconv.ParseInt(value[:digits], 10, 64)
	if err != nil {
		if digits > 0 {
			return math.MaxInt64 // more than a number can say
		}
		return 0
	}
	for range power {
		if n > math.MaxInt64>>10 {
			return math.MaxInt64
		}
		n <<= 10
	}
	return n
}
