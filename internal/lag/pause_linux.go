package lag

import (
	"syscall"
	"time"
)

// pause sleeps by the system's own timer, which is some 60 µs late, where time.Sleep is up to a millisecond.
func pause(d time.Duration) {
	t := syscall.NsecToTimespec(d.Nanoseconds())
	_ = syscall.Nanosleep(&t, nil) // an interrupted sleep is a short one: the caller looks at the clock
}
