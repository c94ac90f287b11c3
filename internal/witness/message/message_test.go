package message

import "testing"

func TestHeadersOfOneConnectionAreNotHandedOn(t *testing.T) {
	fields := func(yield func([]byte, []byte) bool) {
		for _, name := range []string{"A", "Connection", "Host", "Content-Length", "B", "Transfer-Encoding", "Accept-Encoding", "A"} {
			if !yield([]byte(name), []byte("1")) {
				return
			}
		}
	}
	if got := string(AppendFields([]byte("x"), fields)); got != "xA: 1\r\nB: 1\r\nA: 1\r\n" {
		t.Errorf("fields %q", got)
	}
}

func TestALargeMessageLeavesNoMemory(t *testing.T) {
	if got := Keep(make([]byte, 100)); cap(got) != 100 || len(got) != 0 {
		t.Errorf("after a small message %d bytes with %d in use are kept", cap(got), len(got))
	}
	if got := Keep(make([]byte, 100, maxKept+1)); got != nil {
		t.Errorf("after a large message %d bytes are kept", cap(got))
	}
}
