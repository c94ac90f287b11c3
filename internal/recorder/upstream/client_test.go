package upstream

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// server accepts connections and lets serve handle each; it ends with the test.
func server(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				serve(c)
			}()
		}
	}()
	return l.Addr().String()
}

// answering reads one request after another and answers each with the text.
func answering(text string) func(net.Conn) {
	return func(c net.Conn) {
		in := bufio.NewReader(c)
		for {
			r, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			if _, err := io.Copy(io.Discard, r.Body); err != nil {
				return
			}
			if _, err := io.WriteString(c, text); err != nil {
				return
			}
		}
	}
}

func post(address string, timeout time.Duration) (*Response, error) {
	return New(address).Do(&Request{Method: http.MethodPost, Target: "/", Body: []byte("hello")}, timeout)
}

func TestAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		answer string
		want   Response
	}{
		"with a length": {
			"HTTP/1.1 201 Created\r\nContent-Length: 3\r\nA: b\r\nConnection: keep-alive\r\n\r\nabc",
			Response{201, http.Header{"A": {"b"}}, []byte("abc")},
		},
		"in chunks": {
			"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n",
			Response{200, http.Header{}, []byte("abcde")},
		},
		"without a body":              {"HTTP/1.1 204 No Content\r\n\r\n", Response{204, http.Header{}, nil}},
		"after an interim answer":     {"HTTP/1.1 103 Early Hints\r\nX: y\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nz", Response{200, http.Header{}, []byte("z")}},
		"of an error with its reason": {"HTTP/1.1 503 No\r\nContent-Length: 0\r\nReplab-Rejected: overload\r\n\r\n", Response{503, http.Header{"Replab-Rejected": {"overload"}}, nil}},
	} {
		t.Run(name, func(t *testing.T) {
			client := New(server(t, answering(c.answer)))
			for range 2 { // the second goes over the same connection
				got, err := client.Do(&Request{Method: http.MethodPost, Target: "/"}, time.Minute)
				if err != nil {
					t.Fatal(err)
				}
				if string(got.Body) != string(c.want.Body) || got.Status != c.want.Status || !cmp.Equal(got.Header, c.want.Header) {
					t.Errorf("answer %d %v %q", got.Status, got.Header, got.Body)
				}
			}
			if len(client.idle) != 1 {
				t.Errorf("%d idle connections, want the one that was used", len(client.idle))
			}
		})
	}
}

func TestAnAnswerThatIsNotWholeIsAnError(t *testing.T) {
	for name, answer := range map[string]string{
		"nothing":                   "",
		"half a status line":        "HTTP/1.1 20",
		"headers without their end": "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n",
		"a body that is too short":  "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab",
		"chunks without their end":  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
		"another protocol":          "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
		"no HTTP":                   "SSH-2.0-OpenSSH_9.2\r\n",
		"a body beyond all bounds":  fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", MaxResponseBytes+1, strings.Repeat("x", MaxResponseBytes+1)),
	} {
		t.Run(name, func(t *testing.T) {
			address := server(t, func(c net.Conn) {
				if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
					_, _ = io.WriteString(c, answer)
				}
			})
			got, err := post(address, time.Minute)
			var notSent *NotSentError
			if err == nil || errors.As(err, &notSent) {
				t.Errorf("answer %+v, error %v; want an error that leaves open what became of the request", got, err)
			}
		})
	}
}

func TestARefusedConnectionIsNotSent(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	_, err = post(address, time.Minute)
	var notSent *NotSentError
	if !errors.As(err, &notSent) {
		t.Errorf("error %v, want a NotSentError", err)
	}
}

func TestATimeoutIsOneAndLeavesTheOutcomeOpen(t *testing.T) {
	address := server(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
	_, err := post(address, 500*time.Millisecond) // in which it is sent, also on a busy machine
	var timeout net.Error
	var notSent *NotSentError
	if !errors.As(err, &timeout) || !timeout.Timeout() || errors.As(err, &notSent) {
		t.Errorf("error %v, want a timeout after sending", err)
	}
}

// TestAConnectionThatDiedWhileIdleIsReplaced: its end is seen before the request is sent, so nothing is sent twice.
func TestAConnectionThatDiedWhileIdleIsReplaced(t *testing.T) {
	var requests atomic.Int64
	closed := make(chan struct{}, 1)
	address := server(t, func(c net.Conn) {
		if _, err := http.ReadRequest(bufio.NewReader(c)); err != nil {
			return
		}
		requests.Add(1)
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		c.Close()
		closed <- struct{}{}
	})
	client := New(address)
	for i := range 20 {
		if _, err := client.Do(&Request{Method: http.MethodPost, Target: "/"}, time.Minute); err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
		<-closed
	}
	if got := requests.Load(); got != 20 {
		t.Errorf("the server got %d requests, want 20", got)
	}
}

// TestAKeptAliveConnectionThatDiesUnderARequestIsAnError: whatever net/http would do, it is not tried again.
func TestAKeptAliveConnectionThatDiesUnderARequestIsAnError(t *testing.T) {
	var requests atomic.Int64
	address := server(t, func(c net.Conn) {
		in := bufio.NewReader(c)
		for n := 0; ; n++ {
			if _, err := http.ReadRequest(in); err != nil {
				return
			}
			requests.Add(1)
			if n == 1 {
				return
			}
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		}
	})
	for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodPut} {
		client := New(address)
		requests.Store(0)
		request := &Request{Method: method, Target: "/", Header: http.Header{"Idempotency-Key": {"x"}}}
		if _, err := client.Do(request, time.Minute); err != nil {
			t.Fatal(err)
		}
		if _, err := client.Do(request, time.Minute); err == nil {
			t.Errorf("%s: no error", method)
		}
		if got := requests.Load(); got != 2 {
			t.Errorf("%s: the server got %d requests, want 2", method, got)
		}
	}
}

func TestUnaskedBytesAreNotTakenForTheNextAnswer(t *testing.T) {
	address := server(t, answering("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\naHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nb"))
	client := New(address)
	for range 5 {
		got, err := client.Do(&Request{Method: http.MethodGet, Target: "/"}, time.Minute)
		if err != nil || string(got.Body) != "a" {
			t.Fatalf("answer %+v, %v", got, err)
		}
	}
}

func TestWhatIsSent(t *testing.T) {
	var got *http.Request
	var body []byte
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
	}))
	defer s.Close()
	address := s.Listener.Addr().String()
	_, err := New(address).Do(&Request{
		Method: http.MethodPost, Target: "/user/register?a=%20b", Body: []byte("{}"), ExtraName: "Replab-Write-Id", ExtraValue: "7",
		Header: http.Header{
			"Content-Type": {"application/json"}, "X-Two": {"1", "2"}, "Connection": {"close"}, "Content-Length": {"99"},
			"Accept-Encoding": {"gzip"}, "Expect": {"100-continue"}, "Transfer-Encoding": {"chunked"},
		},
	}, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	want := http.Header{
		"Content-Type": {"application/json"}, "X-Two": {"1", "2"}, "Content-Length": {"2"}, "Replab-Write-Id": {"7"},
	}
	if diff := cmp.Diff(want, got.Header); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
	if got.RequestURI != "/user/register?a=%20b" || got.Host != address || string(body) != "{}" {
		t.Errorf("uri %q host %q body %q", got.RequestURI, got.Host, body)
	}
}
