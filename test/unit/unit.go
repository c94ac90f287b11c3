// Package unit tells tests apart that need nothing but Go: `make test-unit` runs those alone.
package unit

import "testing"

// Leave skips a test that starts a server, a browser or another large program when `go test -short` runs.
func Leave(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short leaves out what starts servers and other large programs")
	}
}
