package engine

// Described is a Server that managers run, and that another operator may run. It performs no IO.
type Described interface {
	// Describe is the configuration of every server, for another operator.
	Describe(Settings) Description
	// Kept are the managers' settings in their store, by name and as they report them. They hold whatever the configuration says.
	Kept(Settings) map[string]string
}

// Description of servers, in their own words.
type Description struct {
	Version    string            // the major one
	Parameters map[string]string // as the server's configuration has them
	// Access says who may connect, and how: a line each.
	Access []string
	// Initialization is what a data directory is made with; "true" for what is a switch.
	Initialization map[string]string
}
