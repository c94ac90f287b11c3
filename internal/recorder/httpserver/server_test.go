package httpserver

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// start serves handle until the test ends, or stop is called, which returns what the server returned.
func start(t *testing.T, handle Handler) (address string, stop func() error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- ServeOn(ctx, l, handle) }()
	stop = sync.OnceValue(func() error { cancel(); return <-ended })
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String(), stop
}

func dial(t *testing.T, address string) *net.TCPConn {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	return c.(*net.TCPConn)
}

func send(t *testing.T, c io.Writer, text string) {
	t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
}

// echo answers what it was asked.
func echo(r *http.Request, body []byte) Answer {
	return Answer{http.StatusOK, http.Header{"Got": {r.Method + " " + r.RequestURI}}, body}
}

func TestRequestsOfOneConnectionAreAnsweredInTheirOrder(t *testing.T) {
	for name, c := range map[string]struct{ request, want string }{
		"without a body": {"GET /a?b=c HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 200 OK\r\nGot: GET /a?b=c\r\nContent-Length: 0\r\n\r\n"},
		"with a length":  {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", "HTTP/1.1 200 OK\r\nGot: POST /\r\nContent-Length: 3\r\n\r\nabc"},
		"in chunks": {
			"PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\nTrailer: x\r\n\r\n",
			"HTTP/1.1 200 OK\r\nGot: PUT /\r\nContent-Length: 3\r\n\r\nabc",
		},
		"for the head alone": {"HEAD / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\na", "HTTP/1.1 200 OK\r\nGot: HEAD /\r\nContent-Length: 1\r\n\r\n"},
		"that waits for leave to send its body": {
			"POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\na",
			"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nGot: POST /\r\nContent-Length: 1\r\n\r\na",
		},
	} {
		t.Run(name, func(t *testing.T) {
			address, _ := start(t, echo)
			conn := dial(t, address)
			send(t, conn, strings.Repeat(c.request, 3)) // without waiting for the answers
			got := make([]byte, 3*len(c.want))
			if _, err := io.ReadFull(conn, got); err != nil || string(got) != strings.Repeat(c.want, 3) {
				t.Errorf("answers %q, %v", got, err)
			}
		})
	}
}

func TestALastRequestEndsItsConnection(t *testing.T) {
	for name, request := range map[string]string{
		"the client wants no other": "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
		"an old client":             "GET / HTTP/1.0\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			address, _ := start(t, echo)
			c := dial(t, address)
			send(t, c, request)
			got, err := io.ReadAll(c)
			if err != nil || string(got) != "HTTP/1.1 200 OK\r\nGot: GET /\r\nContent-Length: 0\r\nConnection: close\r\n\r\n" {
				t.Errorf("answer %q, %v", got, err)
			}
		})
	}
}

func TestAnAnswerWithoutABodyHasNoLength(t *testing.T) {
	address, _ := start(t, func(*http.Request, []byte) Answer { return Answer{Status: http.StatusNoContent} })
	c := dial(t, address)
	send(t, c, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	if got, err := io.ReadAll(c); err != nil || string(got) != "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n" {
		t.Errorf("answer %q, %v", got, err)
	}
}

// TestWhatDoesNotArriveWholeIsNotHandled: the client gets a reason and the end of its connection.
func TestWhatDoesNotArriveWholeIsNotHandled(t *testing.T) {
	tooMuch := strings.Repeat("x", MaxBodyBytes+1)
	for name, c := range map[string]struct {
		request string
		status  int
	}{
		"half a head":                     {"GET / HT", 400},
		"half a body":                     {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 20\r\n\r\n{", 400},
		"chunks without their end":        {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n", 400},
		"a length that is none":           {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400},
		"two lengths":                     {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400},
		"a header that is none":           {"GET / HTTP/1.1\r\nHost: x\r\nno header\r\n\r\n", 400},
		"no host":                         {"GET / HTTP/1.1\r\n\r\n", 400},
		"no HTTP":                         {"SSH-2.0-OpenSSH_9.2\r\n\r\n", 400},
		"another HTTP":                    {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
		"a head beyond all bounds":        {"GET / HTTP/1.1\r\nHost: x\r\nA: " + strings.Repeat("x", MaxHeadBytes+8192) + "\r\n\r\n", 431},
		"a body beyond all bounds":        {fmt.Sprintf("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(tooMuch), tooMuch), 400},
		"chunks beyond all bounds":        {fmt.Sprintf("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(tooMuch), tooMuch), 400},
		"a body announced beyond a bound": {"POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 99999999\r\n\r\n", 400},
	} {
		t.Run(name, func(t *testing.T) {
			var handled atomic.Int64
			address, _ := start(t, func(*http.Request, []byte) Answer { handled.Add(1); return Answer{Status: 200} })
			conn := dial(t, address)
			send(t, conn, c.request)
			if err := conn.CloseWrite(); err != nil {
				t.Fatal(err)
			}
			r, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(r.Body)
			if err != nil || r.StatusCode != c.status || !r.Close || !strings.Contains(string(body), `{"error":"`) || handled.Load() != 0 {
				t.Errorf("status %d, close %t, %s, %v; handled %d times", r.StatusCode, r.Close, body, err, handled.Load())
			}
		})
	}
}

func TestAHeadThatStallsIsGivenUpAndAnIdleConnectionIsNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := net.Pipe()
		defer client.Close()
		go newConn(server, echo).serve()
		time.Sleep(time.Hour) // of synctest's clock
		send(t, client, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		in := bufio.NewReader(client)
		if r, err := http.ReadResponse(in, nil); err != nil || r.StatusCode != http.StatusOK {
			t.Fatalf("after an hour without a request: %+v, %v", r, err)
		}
		send(t, client, "GET / HT")
		begun := time.Now()
		r, err := http.ReadResponse(in, nil)
		if err != nil || r.StatusCode != http.StatusBadRequest || time.Since(begun) != headTimeout {
			t.Errorf("after %v: %+v, %v", time.Since(begun), r, err)
		}
		_, _ = io.Copy(io.Discard, in)
	})
}

func TestAPanicEndsItsConnectionAlone(t *testing.T) {
	address, _ := start(t, func(r *http.Request, _ []byte) Answer {
		if r.URL.Path == "/panic" {
			panic("on purpose")
		}
		return Answer{Status: http.StatusOK}
	})
	panics, other := dial(t, address), dial(t, address)
	send(t, panics, "GET /panic HTTP/1.1\r\nHost: x\r\n\r\n")
	if got, err := io.ReadAll(panics); len(got) != 0 || err != nil {
		t.Errorf("answer %q, %v", got, err)
	}
	send(t, other, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	if got, err := io.ReadAll(other); len(got) == 0 || err != nil {
		t.Errorf("answer on another connection %q, %v", got, err)
	}
}
