package agent

import (
	"context"
	"net/http"
	"sync"
	"time"

	"replab.dev/internal/agent/client"
	"replab.dev/internal/agent/watch"
	"replab.dev/internal/httpclient"
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
	return &Asker{Members: members, Self: self, http: httpclient.Client(&http.Transport{}), url: client.URL}
}

// Round asks all others at once. It takes at most askTimeout.
func (a *Asker) Round(ctx context.Context) []Answer {
	answers := make([]Answer, len(a.Members))
	var group sync.WaitGroup
	for i := range a.Members {
		if i != a.Self {
			group.Go(func() { answers[i] = a.ask(ctx, i) })
		}
	}
	group.Wait()
	return answers
}

func (a *Asker) ask(ctx context.Context, i int) Answer {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	state, err := client.Agent{HTTP: a.http, URL: a.url(a.Members[i].Host)}.State(ctx)
	if err != nil {
		return Answer{Err: err}
	}
	return Answer{State: &state}
}

// poller asks each of the others again and again, and keeps their last answers.
type poller struct {
	asker *Asker

	mu   sync.Mutex
	last []Answer // Err is of the last question, State and At are of the last answer
}

func newPoller(a *Asker) *poller { return &poller{asker: a, last: make([]Answer, len(a.Members))} }

// run asks until ctx ends. A member that does not answer delays no question to another.
func (p *poller) run(ctx context.Context) {
	var loops sync.WaitGroup
	for i := range p.last {
		if i == p.asker.Self {
			continue
		}
		loops.Go(func() {
			watch.Every(ctx, askInterval, func() { p.note(i, p.asker.ask(ctx, i), time.Now()) })
		})
	}
	loops.Wait()
}

// note keeps an answer. The answer before stands for a while where there is none.
func (p *poller) note(i int, a Answer, at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last[i].Err = a.Err
	if a.Err == nil {
		p.last[i].State, p.last[i].At = a.State, at
	}
}

// askedAll tells whether each of the others has answered once, or has failed to.
func (p *poller) askedAll() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, a := range p.last {
		if i != p.asker.Self && a.State == nil && a.Err == nil {
			return false
		}
	}
	return true
}

// standing are the answers that stand at a moment.
func (p *poller) standing(now time.Time) []Answer {
	p.mu.Lock()
	defer p.mu.Unlock()
	answers := make([]Answer, len(p.last))
	for i, a := range p.last {
		if a.State != nil && now.Sub(a.At) <= freshness {
			answers[i] = Answer{State: a.State, At: a.At}
		} else {
			answers[i].Err = a.Err
		}
	}
	return answers
}
