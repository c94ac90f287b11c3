//go:build !linux

package engine

import (
	"errors"

	"replab.dev/hack/local/internal/layout"
)

var errNone = errors.New("no Docker engine answers: start Docker, or set DOCKER_HOST")

// Up looks for an engine. Only on Debian could it start one.
func Up(layout.Layout) error {
	if !answers() {
		return errNone
	}
	return nil
}

// Use looks for an engine.
func Use(l layout.Layout) (bool, error) { return true, Up(l) }

// Down has nothing to end.
func Down(layout.Layout, bool) error { return nil }

// IsRuntime is for Linux.
func IsRuntime(string) bool { return false }

// Runtime is for Linux.
func Runtime([]string) error { return nil }
