package engine

import (
	"errors"
	"strings"
	"testing"
)

func TestAnUnknownEngineIsRefused(t *testing.T) {
	l := Lookup[int]{"MySQL": 1, "MariaDB": 2}
	if role, err := l.For("MariaDB"); err != nil || role != 2 {
		t.Errorf("the role of MariaDB is %d, %v", role, err)
	}
	if _, err := l.For("Paradox"); err == nil || !strings.Contains(err.Error(), `"Paradox"`) || !strings.Contains(err.Error(), "one of: MariaDB, MySQL") {
		t.Errorf("error is %v, want one that names the engine and those that there are", err)
	}
}

func TestPermanentKeepsTextAndCause(t *testing.T) {
	cause := errors.New("no such table")
	err := Permanent(cause)
	if !errors.Is(err, ErrPermanent) || !errors.Is(err, cause) || err.Error() != cause.Error() {
		t.Errorf("%v", err)
	}
}
