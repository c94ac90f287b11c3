package postgres_test

import (
	"net"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"replab.dev/internal/engine/postgres"
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

// TestAnIdleConnectionIsLookedAtBesideAReader: the driver may have left one behind, which reads until the server says something.
func TestAnIdleConnectionIsLookedAtBesideAReader(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ours, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	theirs, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	read := make(chan error)
	look := func() {
		n, err := ours.Read(make([]byte, 1))
		if n == 1 {
			_, err = ours.Read(make([]byte, 1))
		}
		read <- err
	}
	if !postgres.Quiet(ours) {
		t.Error("a connection on which nothing happens is taken for one that ended")
	}
	go look()
	if _, err := theirs.Write([]byte{1}); err != nil { // once that is read, the second read is under way, or about to be
		t.Fatal(err)
	}
	for !postgres.Quiet(ours) {
		runtime.Gosched()
	}
	_ = theirs.Close()
	if err := <-read; err == nil {
		t.Error("the reader had no end")
	}
	if postgres.Quiet(ours) {
		t.Error("a connection that the server ended is taken for one that lives")
	}
}
