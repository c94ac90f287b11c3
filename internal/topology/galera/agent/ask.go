package agent

import (
	"context"
	"net/http"
	"sync"
	"time"

	"replab.dev/internal/agent/client"
	"replab.dev/internal/agent/repeat"
	"replab.dev/internal/call"
	"replab.dev/internal/wire"
)

const (
	// askTimeout bounds one question. What a round has found out is at most as old.
	askTimeout = 800 * time.Millisecond
	// askInterval is the time between two questions to one member.
	askInterval = 200 * time.Millisecond
	// freshness is for how long what a member's agent has told stands.
	freshness = time.Second
)

// Asker asks the agents of all members but its own.
type Asker struct {
	Members []wire.Node
	Self    int

	http *http.Client
	url  func(host string) string
}

// NewAsker asks for the member with this number.
func NewAsker(members []wire.Node, self int) *Asker {
	return &Asker{Members: members, Self: self, http: call.Client(&http.Transport{}), url: client.URL}
}

// Round asks all others at once. It takes at most askTimeout.
func (a *Asker) Round(ctx context.Context) []Heard {
	heard := make([]Heard, len(a.Members))
	var group sync.WaitGroup
	for i := range a.Members {
		if i != a.Self {
			group.Go(func() { heard[i] = a.ask(ctx, i) })
		}
	}
	group.Wait()
	return heard
}

func (a *Asker) ask(ctx context.Context, i int) Heard {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	state, err := client.Agent{HTTP: a.http, URL: a.url(a.Members[i].Host)}.State(ctx)
	if err != nil {
		return Heard{Err: err}
	}
	return Heard{State: &state}
}

// listener asks each of the others again and again, and keeps what they said last.
type listener struct {
	asker *Asker

	mu   sync.Mutex
	last []told
}

// told is what a member's agent has said at a moment.
type told struct {
	state *wire.NodeState
	at    time.Time
	err   error // of the last question, where it failed
}

func newListener(a *Asker) *listener { return &listener{asker: a, last: make([]told, len(a.Members))} }

// run asks until ctx ends. A member that does not answer delays no question to another.
func (l *listener) run(ctx context.Context) {
	var loops sync.WaitGroup
	for i := range l.last {
		if i == l.asker.Self {
			continue
		}
		loops.Go(func() {
			repeat.Every(ctx, askInterval, func() { l.note(i, l.asker.ask(ctx, i), time.Now()) })
		})
	}
	loops.Wait()
}

// note keeps what a member has told when it does not answer the next question: it is known for how long that stands.
func (l *listener) note(i int, h Heard, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last[i].err = h.Err
	if h.Err == nil {
		l.last[i].state, l.last[i].at = h.State, at
	}
}

// heardAll tells whether each of the others has answered once, or has failed to.
func (l *listener) heardAll() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, t := range l.last {
		if i != l.asker.Self && t.state == nil && t.err == nil {
			return false
		}
	}
	return true
}

// heard is what stands at a moment.
func (l *listener) heard(now time.Time) []Heard {
	l.mu.Lock()
	defer l.mu.Unlock()
	heard := make([]Heard, len(l.last))
	for i, t := range l.last {
		if t.state != nil && now.Sub(t.at) <= freshness {
			heard[i].State, heard[i].At = t.state, t.at
		} else {
			heard[i].Err = t.err
		}
	}
	return heard
}
