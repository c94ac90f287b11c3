// Package enginetest is the list of engines that tests have servers of, as cmd/replab has that of the engines. Whoever is tested with
// servers, and knows no engine, takes them from here.
package enginetest

import (
	"testing"
	"time"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/family/familytest"
	"replab.dev/internal/engine/mariadb/mariadbtest"
	"replab.dev/internal/engine/mysql/mysqltest"
)

// Password of every account of a test server.
const Password = familytest.Password

// Flavor is an engine that tests have servers of.
type Flavor = familytest.Flavor

// Server is a running server that ends with its test.
type Server = familytest.Server

// Option changes the configuration of a server.
type Option = familytest.Option

// Default is the engine of tests that want one server of any.
var Default = mysqltest.Flavor

// Flavors are all engines.
var Flavors = []Flavor{Default, mariadbtest.Flavor}

// What `replab server` and `replab agent` are told of engines.
var (
	Starters = Lookup(func(f Flavor) engine.Starter { return f.Roles })
	Locals   = Lookup(func(f Flavor) engine.Local { return f.Roles })
)

// Lookup looks one role up in all engines.
func Lookup[Role any](of func(Flavor) Role) engine.Lookup[Role] {
	l := engine.Lookup[Role]{}
	for _, f := range Flavors {
		l[f.Engine] = of(f)
	}
	return l
}

// Each runs a test with every engine.
func Each(t *testing.T, test func(*testing.T, Flavor)) {
	for _, f := range Flavors {
		t.Run(f.Engine, func(t *testing.T) { test(t, f) })
	}
}

// Start makes and starts a server of the default engine, and waits until it answers.
func Start(t testing.TB, name string, opts ...Option) *Server {
	t.Helper()
	return Default.Start(t, name, opts...)
}

// SemiSync has commits that can wait for replicas.
func SemiSync(ackReplicas int, timeout time.Duration) Option {
	return familytest.SemiSync(ackReplicas, timeout)
}
