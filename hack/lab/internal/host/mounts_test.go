package host

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestMountsBelow(t *testing.T) {
	const info = `21 1 254:0 / / rw - ext4 /dev/vda rw
30 21 0:30 / /w/.lab/run/a rw - tmpfs tmpfs rw
31 30 0:31 / /w/.lab/run/a/b rw - tmpfs tmpfs rw
32 21 0:32 / /w/.lab/running rw - tmpfs tmpfs rw
33 21 0:33 / /w/.lab/run/with\040blank rw - tmpfs tmpfs rw
`
	got := mountsBelow(info, []string{"/w/.lab/run"})
	want := []string{"/w/.lab/run/with blank", "/w/.lab/run/a/b", "/w/.lab/run/a"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q: the innermost must come first, and a name that only begins alike is another", got, want)
	}
}

func TestHostEnds(t *testing.T) {
	const text = `{"kind":"cniCacheV1","result":{"interfaces":[
		{"name":"replab0","mac":"a"},{"name":"veth1","mac":"b"},{"name":"eth0","mac":"c","sandbox":"/run/netns/x"}]}}`
	if got := hostEnds([]byte(text)); !slices.Equal(got, []string{"veth1"}) {
		t.Errorf("got %q", got)
	}
	if got := hostEnds([]byte("torn")); got != nil {
		t.Errorf("half a file gives %q", got)
	}
}

func TestOverlap(t *testing.T) {
	parse := func(s string) *net.IPNet {
		_, n, err := net.ParseCIDR(s)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	own := parse("10.213.0.0/24")
	for other, want := range map[string]bool{
		"10.0.0.0/8": true, "10.213.0.128/25": true, "10.213.1.0/24": false, "192.168.0.0/16": false,
	} {
		if got := overlap(own, parse(other)); got != want {
			t.Errorf("%s: got %v", other, got)
		}
	}
}

func TestRemoveEmptyKeepsWhatSomebodyElsePutThere(t *testing.T) {
	dir := t.TempDir()
	ours, theirs := filepath.Join(dir, "ours"), filepath.Join(dir, "theirs")
	for _, d := range []string{filepath.Join(ours, "a", "b"), theirs} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(theirs, "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	removeEmpty(ours)
	removeEmpty(theirs)
	if _, err := os.Stat(ours); !os.IsNotExist(err) {
		t.Error("the empty folder is still there")
	}
	if _, err := os.Stat(filepath.Join(theirs, "file")); err != nil {
		t.Error("a file of somebody else is gone")
	}
}
