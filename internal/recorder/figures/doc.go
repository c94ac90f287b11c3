// Package figures keeps what the recorder counts while the load runs: latencies, requests and failures per stage and
// operation, and the timeline by the second. It reads no clock but the one it is given.
package figures

import "replab.dev/internal/wire"

// Operation is what a request asks of the app.
type Operation int

// Operations, in the order of the results.
const (
	Register Operation = iota
	Profile
	Search
	Login
	Other
	operations
)

// String returns the operation's name in the results.
func (o Operation) String() string {
	return [operations]string{wire.OperationRegister, "profile", "search", "login", "other"}[o]
}
