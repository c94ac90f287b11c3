// Package direct stands for no proxy: the app finds the nodes by Services that select pods by their role.
package direct

import (
	"replab.dev/internal/kube"
	"replab.dev/internal/proxy"
)

// Driver implements proxy.Driver.
type Driver struct{}

// Files implements proxy.Driver.
func (Driver) Files(proxy.Params) map[string]string { return nil }

// Objects implements proxy.Driver.
func (Driver) Objects(proxy.Params) []kube.Object { return nil }

// Paths implements proxy.Driver: the topology's own.
func (Driver) Paths(p proxy.Params) proxy.Paths {
	return proxy.Paths{Writes: p.Routes.Writer, Reads: p.Routes.Readers, Seed: p.Routes.Writer}
}

// Settings implements proxy.Driver.
func (Driver) Settings(proxy.Params) map[string]string { return nil }

// NeedsImage implements proxy.Driver: there is no process.
func (Driver) NeedsImage() bool { return false }

// Metrics implements proxy.Driver.
func (Driver) Metrics() bool { return false }

// RolesByLabel implements proxy.Driver.
func (Driver) RolesByLabel() bool { return true }
