package starter

import (
	"bytes"
	"context"
	"testing"

	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

// listening is a way that has a server stopped once it has written something.
type listening struct {
	written bytes.Buffer
	left    chan struct{}
	ended   []bool
}

func (*listening) Prepare(context.Context) (engine.Start, error) { return engine.Start{}, nil }
func (*listening) Again(int) bool                                { return false }
func (l *listening) LeftOut() <-chan struct{}                    { return l.left }
func (l *listening) Ended(leftOut bool)                          { l.ended = append(l.ended, leftOut) }

func (l *listening) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("left out")) {
		l.left <- struct{}{}
	}
	return l.written.Write(p)
}

func TestAServerThatIsLeftOutIsStopped(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		code   int
		left   bool
	}{
		"left out":  {"echo left out; exec sleep 60", 128 + 15, true},
		"all right": {"echo all right; exit 3", 3, false},
	} {
		t.Run(name, func(t *testing.T) {
			l := &listening{left: make(chan struct{}, 1)}
			n := &Node{Config: wire.ServerConfig{DataDir: t.TempDir()}}
			code, err := n.runServer(t.Context(), l, engine.Start{Argv: []string{"sh", "-c", c.script}})
			if err != nil || code != c.code {
				t.Errorf("it ended with %d, %v, want %d", code, err, c.code)
			}
			if len(l.ended) != 1 || l.ended[0] != c.left || l.written.String() != name+"\n" {
				t.Errorf("its end is told as %v, after the messages %q", l.ended, l.written.String())
			}
		})
	}
}
