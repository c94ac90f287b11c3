package postgres_test

import (
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"replab.dev/internal/wire"
)

func TestWithoutAConnectionNothingWasSent(t *testing.T) {
	for name, greet := range map[string]*pgproto3.ErrorResponse{
		"too many clients": refused("FATAL", "53300", ""), "no such password": refused("FATAL", "28P01", ""),
		"no such database": refused("FATAL", "3D000", ""), "starting up": refused("FATAL", "57P03", ""),
	} {
		if o := registerOnce(t, &backend{greet: []pgproto3.BackendMessage{greet}}); o != wire.RejectedNotSent {
			t.Errorf("%s is %q", name, o)
		}
	}
	nobody := wire.Endpoint{Host: "127.0.0.1", Port: 1}
	if _, o := storeOn(t, nobody, 1).register(); o != wire.RejectedNotSent {
		t.Errorf("nobody there is %q", o)
	}
}

func TestWhoGetsNoConnectionOfThePoolHasSentNothing(t *testing.T) {
	release := make(chan struct{})
	b := &backend{answer: func(c *pgproto3.Backend, _, _ int) bool {
		<-release
		send(c, append(slices.Clone(inserted), ready)...)
		return true
	}}
	s := storeOn(t, startBackend(t, b), 1)
	first := make(chan string, 1)
	go func() {
		_, o := s.registerWithin(time.Minute)
		first <- o
	}()
	for _, statements := b.counts(); statements == 0; _, statements = b.counts() {
		time.Sleep(time.Millisecond) // between two looks
	}
	if _, o := s.registerWithin(50 * time.Millisecond); o != wire.RejectedNotSent {
		t.Errorf("the one without a connection is %q", o)
	}
	close(release)
	if o := <-first; o != "" {
		t.Errorf("the one with it is %q", o)
	}
}

// A connection that failed is not waited for: its place in the pool is free for a server that answers.
func TestAServerThatHangsKeepsNoPlaceInThePool(t *testing.T) {
	b := &backend{answer: func(c *pgproto3.Backend, _, connection int) bool {
		if connection > 1 {
			send(c, append(slices.Clone(inserted), ready)...)
		}
		return true
	}}
	s := storeOn(t, startBackend(t, b), 1)
	if _, o := s.registerWithin(time.Second); o != open {
		t.Errorf("the one without an answer is %q", o)
	}
	if _, o := s.registerWithin(10 * time.Second); o != "" { // far less than the driver's 15 s for an orderly end
		t.Errorf("the next one is %q", o)
	}
}

func TestAConnectionThatTheServerEndedIsNotUsed(t *testing.T) {
	b := &backend{answer: func(c *pgproto3.Backend, statement, _ int) bool {
		send(c, append(slices.Clone(inserted), ready)...)
		return statement > 1
	}}
	s := storeOn(t, startBackend(t, b), 1)
	if _, o := s.register(); o != "" {
		t.Fatalf("the first write is %q", o)
	}
	<-b.closed
	if _, o := s.register(); o != "" {
		t.Errorf("the next write is %q: it was sent to a connection that was known to be at its end", o)
	}
}

func TestAServerThatTakesNoWritesIsLeft(t *testing.T) {
	b := &backend{answer: func(c *pgproto3.Backend, _, connection int) bool {
		if connection == 1 {
			send(c, refused("ERROR", "25006", ""), ready)
			return true
		}
		send(c, append(slices.Clone(inserted), ready)...)
		return true
	}}
	s := storeOn(t, startBackend(t, b), 1)
	if _, o := s.register(); o != wire.RejectedReadOnly {
		t.Errorf("the write is %q", o)
	}
	if _, o := s.register(); o != "" {
		t.Errorf("the next one is %q: it went to the same server", o)
	}
}
