package postgres

import (
	"math"

	"replab.dev/internal/engine"
)

// besideBuffers is what a node needs beside the buffers that its server's processes share, in bytes: those processes, and Patroni.
const besideBuffers = 256 << 20

// Memory implements engine.Server. A size that is none counts as nothing: the server says so itself.
func (Server) Memory(parameters map[string]string) engine.Need {
	const setting = "shared_buffers"
	value, ok := parameters[setting]
	if !ok {
		value = base[setting]
	}
	pages, _ := Kind{Unit: "8kB", Type: "integer"}.number(value)
	bytes := pages * 8192
	if !(bytes > 0) {
		bytes = 0
	}
	if bytes > math.MaxInt64/2 {
		bytes = math.MaxInt64 / 2
	}
	return engine.Need{Bytes: int64(bytes) + besideBuffers, Setting: setting}
}
