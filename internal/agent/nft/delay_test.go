package nft

import (
	"testing"

	"replab.dev/test/netns"
)

// TestPacketsPassWhereNobodyReadsTheQueue: an agent that died must not have cut its node off.
func TestPacketsPassWhereNobodyReadsTheQueue(t *testing.T) {
	netns.Need(t)
	two, three := listen(t, "127.0.0.2:0"), listen(t, "127.0.0.3:0")
	must(t, Queue("far", 4242, addrs("127.0.0.2", "::1")))
	t.Cleanup(func() { must(t, EndDelays()) })
	if !reaches(two) || !reaches(three) {
		t.Error("a queue that nobody reads cuts off")
	}
	if toDelay(t, "far") == 0 {
		t.Error("what was to be queued is not counted")
	}
	must(t, Queue("far", 4242, addrs("127.0.0.3")))
	before := toDelay(t, "far")
	if reaches(two); toDelay(t, "far") != before {
		t.Error("the old address is queued still")
	}
	if reaches(three); toDelay(t, "far") == before {
		t.Error("the new address is not queued")
	}
}

func TestDelaysStandSideBySideAndApartFromPartitions(t *testing.T) {
	netns.Need(t)
	two, three, four := listen(t, "127.0.0.2:0"), listen(t, "127.0.0.3:0"), listen(t, "127.0.0.4:0")
	must(t, Cut("cut", addrs("127.0.0.2")))
	must(t, Queue("far", 4242, addrs("127.0.0.3")))
	must(t, Queue("farther", 4243, addrs("127.0.0.4")))
	if !reaches(three) || !reaches(four) || toDelay(t, "far") == 0 || toDelay(t, "farther") == 0 {
		t.Errorf("queued %d, and %d", toDelay(t, "far"), toDelay(t, "farther"))
	}
	must(t, EndDelay("far"))
	must(t, EndDelay("far")) // again: there is none
	if _, err := ToDelay("far"); err == nil {
		t.Error("what has ended is counted still")
	}
	before := toDelay(t, "farther")
	if !reaches(four) || toDelay(t, "farther") == before {
		t.Error("the end of one was that of the other")
	}
	must(t, EndDelays())
	must(t, EndDelays())
	if reaches(two) {
		t.Error("the partition ended with them")
	}
	must(t, Heal("cut"))
}

func toDelay(t *testing.T, name string) uint64 {
	t.Helper()
	n, err := ToDelay(name)
	must(t, err)
	return n
}
