package pki

import (
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func set(t *testing.T) Set {
	dir := t.TempDir()
	return Set{
		Authorities: []string{"ca", "other"},
		Leaves: []Leaf{
			{Name: "server", Authority: "ca", CommonName: "server", Addresses: []net.IP{net.ParseIP("10.0.0.1")}},
			{Name: "client", Authority: "other", CommonName: "client", Groups: []string{"g"}},
		},
		Keys: []string{"account"},
		Path: func(name string) string { return filepath.Join(dir, name) },
	}
}

func ensure(t *testing.T, s Set, now time.Time) int {
	t.Helper()
	made, err := s.Ensure(now)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestEnsure(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		change func(*testing.T, *Set)
		at     time.Time
		want   int
	}{
		"nothing changed":                             {func(*testing.T, *Set) {}, now, 0},
		"a certificate that is gone is made again":    {func(t *testing.T, s *Set) { remove(t, s.Path("client.crt")) }, now, 1},
		"a key that is gone takes its certificate":    {func(t *testing.T, s *Set) { remove(t, s.Path("server.key")) }, now, 1},
		"an address that changed":                     {func(_ *testing.T, s *Set) { s.Leaves[0].Addresses[0] = net.ParseIP("10.0.0.2") }, now, 1},
		"an authority takes what it signed, no more":  {func(t *testing.T, s *Set) { remove(t, s.Path("ca.key")) }, now, 2},
		"an end that is near renews all certificates": {func(*testing.T, *Set) {}, now.Add(lifetime - time.Hour), 4},
	} {
		t.Run(name, func(t *testing.T) {
			s := set(t)
			if made := ensure(t, s, now); made != 5 {
				t.Fatalf("made %d at first, want 5", made)
			}
			c.change(t, &s)
			if made := ensure(t, s, c.at); made != c.want {
				t.Errorf("made %d, want %d", made, c.want)
			}
			if made := ensure(t, s, c.at); made != 0 {
				t.Errorf("made %d when nothing was left to make", made)
			}
		})
	}
}

func TestKeysArePrivate(t *testing.T) {
	s := set(t)
	ensure(t, s, time.Now())
	for _, name := range []string{"ca.key", "server.key", "account.key"} {
		info, err := os.Stat(s.Path(name))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %s", name, info.Mode())
		}
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}
