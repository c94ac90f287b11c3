//go:build !linux

package lag

import "time"

// pause sleeps by Go's timers: brackets are wider where replab is only developed.
func pause(d time.Duration) { time.Sleep(d) }
