//go:build !linux

// Package timer sleeps precisely.
package timer

import "time"

// Timer sleeps by Go's timers: brackets are wider where replab is only developed.
type Timer struct{}

// New returns a timer.
func New() *Timer { return &Timer{} }

// Sleep for a time.
func (*Timer) Sleep(d time.Duration) { time.Sleep(d) }

// Close has nothing to do.
func (*Timer) Close() {}
