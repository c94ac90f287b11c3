package fault

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"replab.dev/internal/agent/nft"
	"replab.dev/internal/wire"
)

// attemptTimeout is how long a connection attempt to a cut address is awaited.
const attemptTimeout = time.Second

// partition drops the packets from and to addresses. In the pod's network packets to a Service still bear its address.
type partition struct {
	store netip.AddrPort // the API server's Service; not valid where the environment does not say it
}

// Variables by which the kubelet tells each container where the API server is.
const (
	envStoreHost = "KUBERNETES_SERVICE_HOST"
	envStorePort = "KUBERNETES_SERVICE_PORT"
)

func storeOf(getenv func(string) string) netip.AddrPort {
	store, err := netip.ParseAddrPort(net.JoinHostPort(getenv(envStoreHost), getenv(envStorePort)))
	if err != nil {
		return netip.AddrPort{}
	}
	return store
}

func (p partition) inject(r *record) error {
	at := time.Now()
	if err := p.cut(*r); err != nil {
		return err
	}
	r.injected(at)
	return nil
}

// targets are the addresses of a request, and the API server's where it asks for that.
func (p partition) targets(r wire.FaultRequest) ([]netip.Addr, error) {
	as, err := addresses(r)
	if err != nil || !r.Store {
		return as, err
	}
	if !p.store.IsValid() {
		return nil, fmt.Errorf("fault %s needs the API server's address and port: set %s and %s in the agent's container",
			r.Name, envStoreHost, envStorePort)
	}
	return append(as, p.store.Addr()), nil
}

func (p partition) cut(r record) error {
	as, err := p.targets(r.FaultRequest)
	if err != nil {
		return err
	}
	return nft.Cut(r.Name, as)
}

// confirm tries to reach each of the addresses while the counters run.
func (p partition) confirm(r record) (bool, string) {
	as, err := p.targets(r.FaultRequest)
	if err != nil {
		return false, err.Error()
	}
	attempts := make([]error, len(as))
	var all sync.WaitGroup
	for i, a := range as {
		all.Go(func() { attempts[i] = p.attempt(a) })
	}
	all.Wait()
	drops, err := nft.Count(r.Name) // since the partition began
	if err != nil {
		return false, err.Error()
	}
	return judge(as, attempts, drops)
}

// attempt connects to any port of a pod: what counts is whether something comes back. A Service answers at its own ports alone.
func (p partition) attempt(a netip.Addr) error {
	to := netip.AddrPortFrom(a, wire.PortAgent)
	if a == p.store.Addr() {
		to = p.store
	}
	conn, err := net.DialTimeout("tcp", to.String(), attemptTimeout)
	if err != nil {
		return err
	}
	return conn.Close()
}

// judge decides whether the attempts to reach the addresses (nil: connected) and the packets dropped show a partition.
func judge(as []netip.Addr, attempts []error, drops nft.Drops) (bool, string) {
	timedOut := 0
	for i, err := range attempts {
		var timeout net.Error
		switch {
		case err == nil, errors.Is(err, unix.ECONNREFUSED), errors.Is(err, unix.ECONNRESET):
			return false, fmt.Sprintf("%s still answers", as[i])
		case errors.As(err, &timeout) && timeout.Timeout():
			timedOut++
		}
	}
	dropped := fmt.Sprintf("%d packets were dropped (%d in, %d out)", drops.In+drops.Out, drops.In, drops.Out)
	switch {
	case drops.In+drops.Out == 0:
		return false, "no packet was dropped"
	case timedOut > 0:
		return true, fmt.Sprintf("connection attempts to %d of %d addresses timed out, %s", timedOut, len(as), dropped)
	}
	return true, fmt.Sprintf("no connection attempt could be made (%v), but of live traffic %s", attempts[0], dropped)
}

// release has nothing to do for a partition that the agent was not allowed to begin.
func (partition) release(r record) error {
	err := nft.Heal(r.Name)
	if r.InjectedAt == nil && errors.Is(err, unix.EPERM) {
		return nil
	}
	return err
}

// broken finds that its rules were taken away.
func (partition) broken(r record) (bool, string) {
	exists, err := nft.Exists(r.Name)
	return err == nil && !exists, "its rules are not in the packet filter"
}

func (partition) examine(r record) (bool, string) {
	exists, err := nft.Exists(r.Name)
	switch {
	case err != nil:
		return false, err.Error()
	case exists:
		return true, "its rules are in the packet filter"
	}
	return false, "its rules are not in the packet filter"
}
