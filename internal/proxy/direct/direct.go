// Package direct stands for no proxy: the app finds the nodes by Services that select pods by their role.
package direct

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/internal/proxy"
	"replab.dev/internal/wire"
)

// Driver implements proxy.Driver.
type Driver struct{}

// Files implements proxy.Driver.
func (Driver) Files(proxy.Params) map[string]string { return nil }

// Objects implements proxy.Driver.
func (Driver) Objects(proxy.Params) []client.Object { return nil }

// Endpoints implements proxy.Driver: the topology's own.
func (Driver) Endpoints(p proxy.Params) (writes, reads wire.Endpoint) {
	return p.Routes.Writer, p.Routes.Readers
}

// NeedsImage implements proxy.Driver: there is no process.
func (Driver) NeedsImage() bool { return false }

// RolesByLabel implements proxy.Driver.
func (Driver) RolesByLabel() bool { return true }
