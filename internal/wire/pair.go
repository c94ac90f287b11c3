package wire

// PairConfig is for two nodes whose servers both take writes and replicate from each other.
type PairConfig struct {
	// Nodes are both in their order, this one among them.
	Nodes []Node `json:"nodes"`
	Port  int    `json:"port"` // of the servers
	// SemiSync: a commit of either server waits for the other.
	SemiSync bool `json:"semiSync"`
}

// PairState is what the agent of such a node knows of its server.
type PairState struct {
	NodeHistory
	// Placed tells that the node was once in its place: open, and a replica of the other one.
	Placed bool `json:"placed,omitempty"`
	// Answers tells that the server does. The fields below are empty otherwise.
	Answers bool `json:"answers,omitempty"`
	// Executed are the transactions that the server has, in the engine's own notation.
	Executed string `json:"executed,omitempty"`
	// Follows tells that it is connected with the other server and applies what that sends.
	Follows bool `json:"follows,omitempty"`
	// CaughtUp tells that it has executed all that the other one had at the last answer of its agent, which is not old.
	CaughtUp bool `json:"caughtUp,omitempty"`
	// Stopped says why the server stopped to replicate by itself, "" while it has not. Nobody starts it again.
	Stopped string `json:"stopped,omitempty"`
}
