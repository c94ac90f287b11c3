package fault

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"replab.dev/internal/agent/nft"
	"replab.dev/internal/wire"
	"replab.dev/test/netns"
)

func TestPartition(t *testing.T) {
	netns.Need(t)
	n := newNode(t)
	m := n.manager()
	l, err := net.Listen("tcp", "127.0.0.2:0")
	must(t, err)
	defer l.Close()
	r := put(t, m, n.request("cut", wire.FaultPartition, -1, "127.0.0.2"))
	if !r.Confirmed || !strings.Contains(r.Evidence, "timed out") || r.InjectedAt == nil {
		t.Errorf("record: %+v", r)
	}
	if connects(l.Addr()) {
		t.Error("the address can be reached")
	}
	moved := put(t, m, n.request("cut", wire.FaultPartition, -1, "127.0.0.3", "127.0.0.4"))
	if !slices.Equal(moved.Addresses, []string{"127.0.0.3", "127.0.0.4"}) || !moved.InjectedAt.Equal(r.InjectedAt) {
		t.Errorf("the addresses were not replaced: %+v", moved)
	}
	eventually(t, "the first address can be reached again", func() bool { return connects(l.Addr()) })
	_, err = m.Put(n.request("cut", wire.FaultPartition, -1))
	if !errors.Is(err, ErrInvalid) {
		t.Errorf("no addresses any more: %v", err)
	}
	if again := get(t, n.manager(), "cut"); !slices.Equal(again.Addresses, moved.Addresses) {
		t.Errorf("a new agent knows %v", again.Addresses)
	}
	_, err = m.Release("cut")
	must(t, err)
	if exists, err := nft.Exists("cut"); exists || err != nil {
		t.Errorf("after its release: exists %v, %v", exists, err)
	}

	put(t, m, n.request("short", wire.FaultPartition, 200, "127.0.0.2"))
	eventually(t, "it ends by itself", func() bool { return connects(l.Addr()) })
}

func TestJudge(t *testing.T) {
	as := []netip.Addr{netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2")}
	timeout := &net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}
	for _, c := range []struct {
		name      string
		attempts  []error
		drops     nft.Drops
		confirmed bool
		says      string
	}{
		{"attempts that time out and drops confirm", []error{timeout, timeout}, nft.Drops{Out: 2}, true, "timed out"},
		{"attempts that time out for another reason do not", []error{timeout, timeout}, nft.Drops{}, false, "no packet"},
		{"an address that answers refutes", []error{timeout, nil}, nft.Drops{Out: 1}, false, "10.0.0.2 still answers"},
		{"a refusal is an answer", []error{&net.OpError{Op: "dial", Err: unix.ECONNREFUSED}, timeout}, nft.Drops{Out: 1}, false, "10.0.0.1 still answers"},
		{"drops of live traffic confirm where nothing can be tried", []error{unix.ENETUNREACH, unix.ENETUNREACH}, nft.Drops{In: 3}, true, "live traffic"},
		{"nothing tried and nothing dropped does not", []error{unix.ENETUNREACH, unix.ENETUNREACH}, nft.Drops{}, false, "no packet"},
	} {
		t.Run(c.name, func(t *testing.T) {
			confirmed, evidence := judge(as, c.attempts, c.drops)
			if confirmed != c.confirmed || !strings.Contains(evidence, c.says) {
				t.Errorf("%v, %q", confirmed, evidence)
			}
		})
	}
}

func connects(a net.Addr) bool {
	conn, err := net.DialTimeout("tcp", a.String(), 200*time.Millisecond)
	if err != nil {
		return false
	}
	return conn.Close() == nil
}

// cutStore is where a test's API server is.
const cutStore = "127.0.0.9"

func TestAPartitionFromTheStore(t *testing.T) {
	netns.Need(t)
	l, err := net.Listen("tcp", cutStore+":0")
	must(t, err)
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	must(t, err)
	t.Setenv(envStoreHost, cutStore)
	t.Setenv(envStorePort, port)
	n := newNode(t)
	m := n.manager()
	request := n.request("cut", wire.FaultPartition, -1)
	request.Store = true
	if r := put(t, m, request); !r.Confirmed || !r.Store || len(r.Addresses) > 0 || connects(l.Addr()) {
		t.Errorf("record: %+v", r)
	}
	wider := n.request("cut", wire.FaultPartition, -1, "127.0.0.3") // without the store
	if r, err := m.Put(wider); err != nil || !r.Store || !slices.Equal(r.Addresses, []string{"127.0.0.3"}) || len(r.Widened) != 1 || connects(l.Addr()) {
		t.Errorf("widened: %+v, %v", r, err)
	}
	if r, err := m.Put(n.request("cut", wire.FaultPartition, -1)); err != nil || !r.Store || len(r.Addresses) > 0 || connects(l.Addr()) {
		t.Errorf("from the store alone again: %+v, %v", r, err)
	}
	_, err = m.Release("cut")
	must(t, err)
	eventually(t, "the store can be reached again", func() bool { return connects(l.Addr()) })
}

func TestAPartitionFromAStoreThatNobodyNamesIsNotInjected(t *testing.T) {
	t.Setenv(envStoreHost, "")
	n := newNode(t)
	m := n.manager()
	request := n.request("cut", wire.FaultPartition, -1)
	request.Store = true
	if r := put(t, m, request); r.Confirmed || r.InjectedAt != nil || r.ReleasedAt == nil || !strings.Contains(r.Evidence, envStoreHost) {
		t.Errorf("record: %+v", r)
	}
}

func TestTheStoreIsWhereTheEnvironmentSays(t *testing.T) {
	for host, want := range map[string]string{"10.96.0.1": "10.96.0.1:443", "fd00::1": "[fd00::1]:443", "": "", "kubernetes": ""} {
		got := storeOf(func(name string) string { return map[string]string{envStoreHost: host, envStorePort: "443"}[name] })
		if got.IsValid() != (want != "") || got.IsValid() && got.String() != want {
			t.Errorf("%q: %s, want %q", host, got, want)
		}
	}
}
