package httpserver

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

func TestAStopEndsIdleConnectionsAndWaitsForRequestsUnderWay(t *testing.T) {
	arrived, goOn := make(chan struct{}), make(chan struct{})
	address, stop := start(t, func(r *http.Request, _ []byte) Answer {
		if r.URL.Path == "/slow" {
			close(arrived)
			<-goOn
		}
		return Answer{Status: http.StatusOK}
	})
	fresh, used, slow := dial(t, address), dial(t, address), dial(t, address)
	send(t, used, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	in := bufio.NewReader(used)
	if _, err := http.ReadResponse(in, nil); err != nil {
		t.Fatal(err)
	}
	send(t, slow, "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
	<-arrived
	ended := make(chan error, 1)
	go func() { ended <- stop() }()
	for name, c := range map[string]io.Reader{"fresh": fresh, "used": in} {
		if got, err := io.ReadAll(c); len(got) != 0 || err != nil {
			t.Errorf("the idle connection that is %s: %q, %v", name, got, err)
		}
	}
	if c, err := net.Dial("tcp", address); err == nil {
		c.Close()
		t.Error("it still listens")
	}
	select {
	case err := <-ended:
		t.Errorf("it has stopped over a request: %v", err)
	default:
	}
	time.Sleep(100 * time.Millisecond) // the stop ends idle connections in any order, and may not have come to this one
	close(goOn)
	if got, err := io.ReadAll(slow); err != nil || string(got) != "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n" {
		t.Errorf("the request under way: %q, %v", got, err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// one is a listener with one connection.
type one struct{ conns chan net.Conn }

func (o one) Accept() (net.Conn, error) {
	if c, ok := <-o.conns; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (o one) Close() error   { close(o.conns); return nil }
func (o one) Addr() net.Addr { return &net.TCPAddr{} }

func TestAStopGivesUpARequestThatDoesNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := net.Pipe()
		defer client.Close()
		l := one{make(chan net.Conn, 1)}
		l.conns <- server
		ctx, stop := context.WithCancel(t.Context())
		arrived, goOn := make(chan struct{}), make(chan struct{})
		defer close(goOn)
		ended := make(chan error, 1)
		go func() {
			ended <- ServeOn(ctx, l, func(*http.Request, []byte) Answer { close(arrived); <-goOn; return Answer{} })
		}()
		send(t, client, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		<-arrived
		begun := time.Now()
		stop()
		if err := <-ended; err == nil || time.Since(begun) != stopTimeout {
			t.Errorf("after %v: %v", time.Since(begun), err)
		}
		if got, err := io.ReadAll(client); len(got) != 0 || err != nil {
			t.Errorf("the request under way: %q, %v", got, err)
		}
	})
}
