package layout

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Lock keeps two commands from changing the cluster at once. The kernel drops the
// lock when its holder ends, however it ends.
func (l Layout) Lock() (release func() error, err error) {
	if err := os.MkdirAll(l.Dir, 0o755); err != nil {
		return nil, err
	}
	// Closed on exec, as all files of Go are: no daemon holds the lock.
	f, err := os.OpenFile(l.below("lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("another command is at work in %s: wait for it to end", l.Dir)
	}
	return f.Close, nil
}
