package engine

// Described is a Server that another operator may run, which is told what its servers are to be. It performs no IO.
type Described interface {
	// Describe says what every server is to be configured with.
	Describe(Settings) Description
}

// Keeper is a Server whose managers keep settings of theirs in a store, where they hold whatever the configuration says. It performs no IO.
type Keeper interface {
	// Kept are those settings by name, as the managers then tell them.
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
