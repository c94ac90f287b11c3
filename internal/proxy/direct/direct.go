// Package direct stands for no proxy: the app finds the nodes by Services that select pods by their role.
package direct

import "replab.dev/internal/proxy"

// Driver implements proxy.Driver.
type Driver struct{}

// Traits implements proxy.Driver.
func (Driver) Traits() proxy.Traits { return proxy.Traits{RolesByLabel: true} }

// System implements proxy.Driver: the paths are the topology's own.
func (Driver) System(p proxy.Params) proxy.System {
	return proxy.System{Paths: proxy.Paths{Writes: p.Routes.Writer, Reads: p.Routes.Readers, Seed: p.Routes.Writer}}
}
