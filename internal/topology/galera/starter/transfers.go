package starter

import (
	"bytes"
	"os"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/internal/engine"
	"replab.dev/internal/topology/galera/agent"
	"replab.dev/internal/usage"
	"replab.dev/internal/wire"
)

const (
	// lineMost bounds a line of the log that is looked into.
	lineMost = 8 << 10
	// transfersMost bounds how many transfers of one pod are kept.
	transfersMost = 100
)

// transfers passes the server's messages on, and notes those that tell of a transfer of the others' data.
type transfers struct {
	engine engine.Grouped
	notes  agent.Notes

	mu   sync.Mutex
	line []byte
	all  []wire.StateTransfer
	open *openTransfer // the last of all, while it lasts

	failed chan struct{} // one value as soon as the server says that it must be started again
}

// openTransfer is when a transfer began, and how many bytes had been received by then, nil if unknown.
type openTransfer struct {
	at       time.Time
	received *int64
}

// belated is how late a message about an event may come so that the bytes counted at the message are still those of the event.
const belated = time.Second

// newTransfers goes on with those that an earlier wrapper of this pod has noted.
func newTransfers(e engine.Grouped, notes agent.Notes) (*transfers, error) {
	all, err := notes.AllTransfers()
	return &transfers{engine: e, notes: notes, all: all, failed: make(chan struct{}, 1)}, err
}

// Write never fails: the server must not end because of its messages.
func (t *transfers) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, _ = os.Stderr.Write(p)
	for rest := p; len(rest) > 0; {
		end := bytes.IndexByte(rest, '\n')
		part := rest
		if end >= 0 {
			part, rest = rest[:end], rest[end+1:]
		} else {
			rest = nil
		}
		if room := lineMost - len(t.line); room > 0 {
			t.line = append(t.line, part[:min(len(part), room)]...)
		}
		if end >= 0 {
			t.read(string(t.line), time.Now())
			t.line = t.line[:0]
		}
	}
	return len(p), nil
}

func (t *transfers) read(line string, now time.Time) {
	note, ok := t.engine.ReadTransfer(line)
	if !ok {
		return
	}
	soFar := received()
	if !note.At.IsZero() {
		if now.Sub(note.At) > belated {
			soFar = nil
		}
		now = note.At
	}
	switch note.Event {
	case engine.TransferBegins:
		t.begin(note, now, soFar)
	case engine.TransferIs:
		t.is(note)
	case engine.TransferCatchesUp:
		if t.open == nil {
			t.begin(note, now, soFar)
		}
	case engine.TransferEnds:
		t.end(now, soFar)
	case engine.TransferFails:
		t.open = nil
		select {
		case t.failed <- struct{}{}:
		default: // it has said so already
		}
	}
	if len(t.all) > transfersMost {
		t.all = t.all[len(t.all)-transfersMost:]
	}
	_ = t.notes.Transfers.Save(t.all) // a note that is missing is a figure that is missing
}

// begin leaves one that has not ended as it is: it came to nothing.
func (t *transfers) begin(note engine.TransferNote, now time.Time, received *int64) {
	t.open = &openTransfer{at: now, received: received}
	t.all = append(t.all, wire.StateTransfer{Kind: note.Kind, BeganAt: metav1.NewMicroTime(now)})
}

func (t *transfers) is(note engine.TransferNote) {
	if t.open != nil {
		t.all[len(t.all)-1].Kind = note.Kind
	}
}

func (t *transfers) end(now time.Time, received *int64) {
	if t.open == nil {
		return
	}
	if now.Before(t.open.at) { // by a clock that was set back meanwhile: how long it took is not known
		t.open = nil
		return
	}
	last := &t.all[len(t.all)-1]
	at := metav1.NewMicroTime(now)
	last.EndedAt, last.Milliseconds = &at, ptr.To(now.Sub(t.open.at).Milliseconds())
	if received != nil && t.open.received != nil {
		last.NetworkReceivedBytes = ptr.To(*received - *t.open.received)
	}
	t.open = nil
}

// died notes that the server has ended. A transfer that was under way stays open, and messages of the ended server no longer count.
func (t *transfers) died() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open = nil
	select {
	case <-t.failed:
	default:
	}
}

// received are the bytes that the pod's network has received so far, nil if unknown.
func received() *int64 {
	n, _, err := usage.Network()
	if err != nil {
		return nil
	}
	return &n
}
