package engine

// Copier is a Starter of an engine whose servers do not copy one another's data by themselves: the start wrappers do it for them. It
// performs no IO.
//
// The server that is to become a copy of another finds a CopyRequest in its data directory and ends. Its wrapper fetches the
// donor's data from the donor's wrapper, which asks for the password of wire.AccountReplication, into a folder of its own, and puts
// that in the data directory's place in one step. The new data hold the copy's state; where the copy failed, the old do.
type Copier interface {
	// Give is how a running server's data are written to the standard output, while it goes on. password is that of
	// wire.AccountAdmin.
	Give(argv []string, p GiveParams, password string) Give
	// Take is how they are read from the standard input into an empty folder.
	Take(dir string) []string
	// Finish is how that folder becomes a data directory.
	Finish(dir string) []string
	// Notes are the files, by name, that the copy needs beside what it was given. read returns a file of the folder.
	Notes(r CopyRequest, read func(name string) (string, error)) (map[string]string, error)
}

// GiveParams are what giving a copy needs to know.
type GiveParams struct {
	Socket     string
	DataDir    string
	TargetDir  string // an empty folder, for what is not streamed
	SecretFile string
}

// Give is a command and the file that it reads, which holds a password.
type Give struct {
	Argv   []string
	Secret string // the content of GiveParams.SecretFile
}

// CopyRequest is what the data of a server are to be replaced by.
type CopyRequest struct {
	Name string `json:"name"` // of the donor
	Host string `json:"host"`
	Port int    `json:"port"` // of the donor's wrapper
	Note string `json:"note"` // the engine's own
}

// CopyFigures are what making a copy took: until the data were whole, and the bytes of them that were received.
type CopyFigures struct {
	Milliseconds  int64 `json:"milliseconds"`
	ReceivedBytes int64 `json:"receivedBytes"`
}

// Files of a data directory.
const (
	CopyRequestFile = "replab-copy-request" // a CopyRequest as JSON, until it was carried out or has failed
	CopyFiguresFile = "replab-copy-figures" // CopyFigures as JSON, in data that are a copy
	CopyStateFile   = "replab-copy-state"   // empty for data that are a copy; else why the copy that was last asked for failed
)
