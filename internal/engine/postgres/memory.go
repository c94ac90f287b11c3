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

// LogSize implements engine.Server. Log is kept until a checkpoint is through with it, and for standbys.
func (Server) LogSize(parameters map[string]string) engine.Need {
	need := engine.Need{Setting: "max_wal_size"}
	for _, setting := range []string{"max_wal_size", "wal_keep_size"} {
		value, ok := parameters[setting]
		if !ok {
			value = base[setting]
		}
		mebibytes, _ := Kind{Unit: "MB", Type: "integer"}.number(value)
		if bytes := int64(min(max(mebibytes*(1<<20), 0), 1<<62)); bytes > need.Bytes {
			need = engine.Need{Bytes: bytes, Setting: setting}
		}
	}
	return need
}
