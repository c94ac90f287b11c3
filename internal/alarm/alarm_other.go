//go:build !linux

// Package alarm sleeps precisely.
package alarm

import "time"

// Alarm sleeps by Go's timers: brackets are wider where replab is only developed.
type Alarm struct{}

// New returns an alarm.
func New() *Alarm { return &Alarm{} }

// Sleep for a time.
func (*Alarm) Sleep(d time.Duration) { time.Sleep(d) }

// Close has nothing to do.
func (*Alarm) Close() {}
