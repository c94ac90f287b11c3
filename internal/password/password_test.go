package password

import (
	"bytes"
	"strings"
	"testing"

	"replab.dev/api/v1alpha1"
)

var hashers = []Hasher{{Hash: v1alpha1.PasswordSHA256}, {Hash: v1alpha1.PasswordBcrypt}, {Hash: v1alpha1.PasswordBcrypt, Cost: 5}}

func TestHashesMatchTheirPasswordAlone(t *testing.T) {
	for _, h := range hashers {
		if err := h.Check(); err != nil {
			t.Fatal(err)
		}
		first, err := h.Of("correct horse")
		if err != nil || len(first) > 100 {
			t.Fatalf("%+v: %s, %v", h, first, err)
		}
		second, _ := h.Of("correct horse")
		if bytes.Equal(first, second) || bytes.Contains(first, []byte("correct")) {
			t.Errorf("%+v: %s has no salt", h, first)
		}
		for password, want := range map[string]bool{"correct horse": true, "correct horsf": false, "": false, strings.Repeat("x", 100): false} {
			if got, err := Matches(first, password); got != want || err != nil {
				t.Errorf("%+v: %q matches: %t, %v", h, password, got, err)
			}
		}
	}
}

func TestWhatIsNoHash(t *testing.T) {
	for _, hash := range []string{"", "plain", "$sha256$", "$sha256$AAAA", "$sha256$AAAA$!!", "$sha256$AAAA$AAAA"} {
		if ok, err := Matches([]byte(hash), "plain"); ok || err == nil {
			t.Errorf("%q: %t, %v", hash, ok, err)
		}
	}
}

func TestHashersThatCannotHash(t *testing.T) {
	for _, h := range []Hasher{{}, {Hash: "MD5"}, {Hash: v1alpha1.PasswordBcrypt, Cost: 3}, {Hash: v1alpha1.PasswordBcrypt, Cost: 16}} {
		if h.Check() == nil {
			t.Errorf("%+v can hash", h)
		}
	}
}
