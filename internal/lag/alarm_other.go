//go:build !linux

package lag

import "time"

// alarm sleeps by Go's timers: brackets are wider where replab is only developed.
type alarm struct{}

func newAlarm() *alarm { return &alarm{} }

func (*alarm) sleep(d time.Duration) { time.Sleep(d) }

func (*alarm) close() {}
