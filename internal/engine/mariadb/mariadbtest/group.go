package mariadbtest

import (
	"fmt"
	"testing"

	"replab.dev/internal/engine/family/familytest"
)

// GroupArguments let several members of a group run on this machine, each at an address of its own: Prepare's configuration has them
// listen everywhere. transferPort must differ between them.
func GroupArguments(t testing.TB, address string, transferPort int) []string {
	t.Helper()
	root := familytest.Rootfs("REPLAB_MARIADB_ROOTFS", "mariadb")
	provider := only(t, root+"/usr/lib/galera/libgalera_smm.so", "/usr/lib/galera/libgalera_smm.so", "/usr/lib*/galera*/libgalera_smm.so")
	return []string{
		"--wsrep-provider=" + provider,
		"--wsrep-provider-options=pc.recovery=FALSE;evs.suspect_timeout=PT1S;evs.inactive_timeout=PT2S;evs.keepalive_period=PT0.2S;" +
			"evs.inactive_check_period=PT0.1S;evs.install_timeout=PT1S;evs.join_retrans_period=PT0.2S;gmcast.listen_addr=tcp://" + address + ":4567",
		fmt.Sprintf("--wsrep-sst-receive-address=%s:%d", address, transferPort),
	}
}
