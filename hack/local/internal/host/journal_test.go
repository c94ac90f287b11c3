package host

import (
	"os"
	"path/filepath"
	"testing"
)

func TestSettingsGetTheirFormerValues(t *testing.T) {
	procSys = t.TempDir() // the machine's stay
	t.Cleanup(func() { procSys = "/proc/sys" })
	set := func(values map[string]string) {
		t.Helper()
		for name, value := range values {
			path := filepath.Join(procSys, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(value+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	former := map[string]string{"net/ipv4/ip_forward": "0", "net/ipv6/conf/all/forwarding": "0", "net/ipv6/conf/default/forwarding": "1", "kernel/panic": "0"}
	set(former)
	j := Journal{Sysctls: currentSysctls()}
	set(map[string]string{
		"net/ipv4/ip_forward": "1", "net/ipv6/conf/all/forwarding": "1", "net/ipv6/conf/default/forwarding": "0", "kernel/panic": "10",
		"net/bridge/bridge-nf-call-iptables": "1", // the engine loads its module
	})
	if err := j.restoreSysctls(); err != nil {
		t.Fatal(err)
	}
	former["net/bridge/bridge-nf-call-iptables"] = "1"
	for name, want := range former {
		if got, err := readSysctl(name); got != want || err != nil {
			t.Errorf("%s is %q, and was %q: %v", name, got, want, err)
		}
	}
}
