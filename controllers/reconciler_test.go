package controllers

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestEventNote(t *testing.T) {
	for name, c := range map[string]struct{ message, want string }{
		"a short one stays":     {"container server ended 3 times", "container server ended 3 times"},
		"as long as may be":     {strings.Repeat("x", 1024), strings.Repeat("x", 1024)},
		"a longer one is cut":   {strings.Repeat("x", 1025), strings.Repeat("x", 1020) + " ..."},
		"never within a letter": {strings.Repeat("я", 600), strings.Repeat("я", 510) + " ..."},
		"nor within a letter":   {"x" + strings.Repeat("я", 600), "x" + strings.Repeat("я", 509) + " ..."},
	} {
		t.Run(name, func(t *testing.T) {
			got := eventNote(c.message)
			if got != c.want || len(got) > 1024 || !utf8.ValidString(got) {
				t.Errorf("%d bytes: %q", len(got), got)
			}
		})
	}
}
