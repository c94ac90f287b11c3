package server

import (
	"log/slog"
	"testing"
	"time"

	"replab.dev/internal/agent/group"
	"replab.dev/internal/engine"
	"replab.dev/internal/engine/mariadb"
)

// TestAServerThatStaysOutOfItsGroupIsStartedAgain: it would run on and never take part.
func TestAServerThatStaysOutOfItsGroupIsStartedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		says  string
		code  int
		again bool
	}{
		"a transfer that failed":        {"[ERROR] WSREP: Receiving IST failed, node restart required: IST receiver reported failure", 128 + 15, true},
		"one that says nothing of that": {"[Note] WSREP: Synchronized with group, ready for connections", 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			transfers, err := newTransfers(mariadb.Server{}, group.Notes{Dir: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			w := &wrapper{log: slog.Default(), member: &member{transfers: transfers, entered: time.Now()}}
			wait := "exec sleep 0.2"
			if c.again {
				wait = "exec sleep 20"
			}
			code, err := w.runServer(t.Context(), engine.Start{Argv: []string{"sh", "-c", `echo "$0"; ` + wait, c.says}})
			if err != nil || code != c.code {
				t.Fatalf("it ended with %d, %v, want %d", code, err, c.code)
			}
			if again := w.member.triesAgain(code); again != c.again {
				t.Errorf("started again: %t, want %t", again, c.again)
			}
			if w.member.triesAgain(0) {
				t.Error("a server that ended in good order is started again")
			}
		})
	}
}
