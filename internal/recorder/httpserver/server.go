// Package httpserver is an HTTP/1.1 server for one handler, which gets only requests that arrived whole. Unlike net/http it needs no goroutine to
// watch the client while the handler runs, and one write per answer (ADR 18). net/http parses the requests.
package httpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"replab.dev/internal/wire"
)

// Handler answers a request that arrived whole. body is all of its body, and r.Body is empty.
type Handler func(r *http.Request, body []byte) Answer

// Answer is relayed as it is, with its length. The zero Answer stands for a handler that did not come to its end.
type Answer struct {
	Status int
	Header http.Header // without those that say where the answer ends, or what becomes of the connection
	Body   []byte
}

// Refusal is an answer of the server's own: a wire.ErrorResponse.
func Refusal(status int, text string) Answer {
	body, err := json.Marshal(wire.ErrorResponse{Error: text})
	if err != nil { // a string always has a JSON form
		panic(err)
	}
	return Answer{Status: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: body}
}

// Limits of a request, the head's to a buffer. A client that is above one gets an answer and no second request.
const (
	MaxHeadBytes = 1 << 20
	MaxBodyBytes = 1 << 20
)

const (
	// headTimeout is how long the head of a request may take from its first byte.
	headTimeout = 10 * time.Second
	// stopTimeout is how long requests under way may take once the server was told to stop, as process.Serve has it.
	stopTimeout = 10 * time.Second
	// acceptPause follows a connection that could not be accepted: for want of file descriptors, mostly.
	acceptPause = 10 * time.Millisecond
)

// Serve listens on address until ctx ends, and then until requests under way end. Requests still under way after 10 s are an error.
func Serve(ctx context.Context, address string, handle Handler) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("serve HTTP: %w", err)
	}
	return ServeOn(ctx, listener, handle)
}

// ServeOn is Serve on a listener that is already open. It closes the listener.
func ServeOn(ctx context.Context, listener net.Listener, handle Handler) error {
	s := &server{handle: handle, conns: map[*conn]struct{}{}}
	stopped := context.AfterFunc(ctx, func() { listener.Close() })
	defer stopped()
	err := s.accept(listener)
	if ctx.Err() == nil {
		listener.Close()
		s.end()
		return fmt.Errorf("serve HTTP on %s: %w", listener.Addr(), err)
	}
	return s.stop(listener.Addr())
}

// server keeps the connections, so that it can end them.
type server struct {
	handle Handler

	mu       sync.Mutex
	conns    map[*conn]struct{}
	stopping bool
	serving  sync.WaitGroup
}

// accept returns when the listener is closed.
func (s *server) accept(listener net.Listener) error {
	failing := false
	for {
		tcp, err := listener.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return err
		case err != nil:
			if !failing {
				slog.Warn("accepting a connection failed, trying again", "error", err)
			}
			failing = true
			time.Sleep(acceptPause)
		default:
			failing = false
			s.serve(newConn(tcp, s.handle))
		}
	}
}

func (s *server) serve(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping {
		c.Close()
		return
	}
	s.conns[c] = struct{}{}
	s.serving.Go(func() {
		defer func() {
			s.mu.Lock()
			delete(s.conns, c)
			s.mu.Unlock()
		}()
		c.serve()
	})
}

// stop ends the connections without a request at once, and the others with their answer.
func (s *server) stop(address net.Addr) error {
	s.mu.Lock()
	s.stopping = true
	for c := range s.conns {
		c.leave()
	}
	s.mu.Unlock()
	ended := make(chan struct{})
	go func() { s.serving.Wait(); close(ended) }()
	select {
	case <-ended:
		return nil
	case <-time.After(stopTimeout):
	}
	s.end()
	return fmt.Errorf("stop HTTP on %s: requests were still under way after %s", address, stopTimeout)
}

// end closes every connection.
func (s *server) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopping = true
	for c := range s.conns {
		c.Close()
	}
}
