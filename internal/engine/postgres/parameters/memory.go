package parameters

import "replab.dev/api/v1alpha1/validation"

// besideBuffers is what a node needs beside the buffers that its server's processes share, in bytes: those processes, and Patroni.
const besideBuffers = 256 << 20

// Memory implements validation.Server. A size that is none counts as nothing: the server says so itself.
func (Rules) Memory(parameters map[string]string) validation.Need {
	const setting = "shared_buffers"
	value, ok := parameters[setting]
	if !ok {
		value = DefaultBuffers
	}
	pages, _ := Kind{Unit: "8kB", Type: "integer"}.number(value)
	bytes := min(max(pages*8192, 0), 1<<62)
	return validation.Need{Bytes: int64(bytes) + besideBuffers, Setting: setting}
}

// LogSize implements validation.Server. Log is kept until a checkpoint is through with it, and for standbys.
func (Rules) LogSize(parameters map[string]string) validation.Need {
	need := validation.Need{Setting: "max_wal_size"}
	for _, setting := range []string{"max_wal_size", "wal_keep_size"} {
		value, ok := parameters[setting]
		if !ok && setting == need.Setting {
			value = DefaultLog
		}
		mebibytes, _ := Kind{Unit: "MB", Type: "integer"}.number(value)
		if bytes := int64(min(max(mebibytes*(1<<20), 0), 1<<62)); bytes > need.Bytes {
			need = validation.Need{Bytes: bytes, Setting: setting}
		}
	}
	return need
}
