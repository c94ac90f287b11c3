package postgres

import "replab.dev/internal/engine"

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
	bytes := min(max(pages*8192, 0), 1<<62)
	return engine.Need{Bytes: int64(bytes) + besideBuffers, Setting: setting}
}
