package cluster

import (
	"crypto/x509"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// lock keeps two commands from changing the lab at once. The kernel drops the
// lock when its holder ends, however it ends.
func (l Lab) lock() (release func(), err error) {
	if err := os.MkdirAll(l.Dir, 0o755); err != nil {
		return nil, err
	}
	// Closed on exec, as all files of Go are: no daemon holds the lock.
	f, err := os.OpenFile(l.Dir+"/lock", os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("another lab command is at work in %s: wait for it to end", l.Dir)
	}
	return func() { _ = f.Close() }, nil
}

func readPool(path string) (*x509.CertPool, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(b) {
		return nil, errors.New(path + " holds no certificate")
	}
	return pool, nil
}
