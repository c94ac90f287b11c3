package nft

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"replab.dev/test/netns"
)

// TestOthersCanListThePacketFilter while delays, partitions and counters stand: nft gives up on rules that it does not understand.
func TestOthersCanListThePacketFilter(t *testing.T) {
	netns.Need(t)
	nft, err := exec.LookPath("nft")
	if err != nil {
		if os.Getenv("REPLAB_REQUIRE_NFT") != "" {
			t.Fatal(err)
		}
		t.Skip("there is no nft")
	}
	must(t, Queue("far", 4242, addrs("127.0.0.3", "::1")))
	t.Cleanup(func() { must(t, EndDelays()) })
	must(t, Cut("cut", addrs("127.0.0.2")))
	t.Cleanup(func() { must(t, Heal("cut")) })
	must(t, Watch("listed", 3306, addrs("127.0.0.4")))
	out, err := exec.Command(nft, "list", "ruleset").CombinedOutput()
	must(t, err)
	for _, table := range []string{delayTable, "table inet replab ", "replab-traffic"} {
		if !strings.Contains(string(out), table) {
			t.Errorf("no %q in\n%s", table, out)
		}
	}
}
