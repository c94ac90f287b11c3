package upstream

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/valyala/fasthttp"

	"replab.dev/internal/witness/message"
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

// ask sends a request without a body.
func ask(c *Client, method string, timeout time.Duration) (*fasthttp.Response, error) {
	r, a := new(fasthttp.Request), new(fasthttp.Response)
	r.Header.SetMethod(method)
	r.SetRequestURI("/")
	return a, c.Do(r, a, timeout)
}

// relayed are the headers of an answer that are handed on.
func relayed(t *testing.T, a *fasthttp.Response) http.Header {
	t.Helper()
	a.Header.SetNoDefaultContentType(true)
	text := string(message.AppendFields(nil, a.Header.All())) + "\r\n"
	h, err := textproto.NewReader(bufio.NewReader(strings.NewReader(text))).ReadMIMEHeader()
	if err != nil {
		t.Fatal(err)
	}
	return http.Header(h)
}

func TestAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		answer string
		status int
		header http.Header
		body   string
	}{
		"with a length": {
			"HTTP/1.1 201 Created\r\nContent-Length: 3\r\nA: b\r\nConnection: keep-alive\r\n\r\nabc",
			201,
			http.Header{"A": {"b"}},
			"abc",
		},
		"in chunks": {
			"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n",
			200,
			http.Header{},
			"abcde",
		},
		"without a body":              {"HTTP/1.1 204 No Content\r\n\r\n", 204, http.Header{}, ""},
		"after an interim answer":     {"HTTP/1.1 103 Early Hints\r\nX: y\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nz", 200, http.Header{}, "z"},
		"of an error with its reason": {"HTTP/1.1 503 No\r\nContent-Length: 0\r\nReplab-Rejected: overload\r\n\r\n", 503, http.Header{"Replab-Rejected": {"overload"}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			client := New(server(t, answering(c.answer)))
			for range 2 { // the second goes over the same connection
				got, err := ask(client, http.MethodPost, time.Minute)
				if err != nil {
					t.Fatal(err)
				}
				if string(got.Body()) != c.body || got.StatusCode() != c.status || !cmp.Equal(relayed(t, got), c.header) {
					t.Errorf("answer %d %v %q", got.StatusCode(), relayed(t, got), got.Body())
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
		"a body beyond all bounds":  fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", MaxBodyBytes+1, strings.Repeat("x", MaxBodyBytes+1)),
	} {
		t.Run(name, func(t *testing.T) {
			address := server(t, func(c net.Conn) {
				if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
					_, _ = io.WriteString(c, answer)
				}
			})
			got, err := ask(New(address), http.MethodPost, time.Minute)
			var notSent *NotSentError
			if err == nil || errors.As(err, &notSent) {
				t.Errorf("answer %v, error %v; want an error that leaves open what became of the request", got, err)
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
	_, err = ask(New(address), http.MethodPost, time.Minute)
	var notSent *NotSentError
	if !errors.As(err, &notSent) {
		t.Errorf("error %v, want a NotSentError", err)
	}
}

func TestATimeoutIsOneAndLeavesTheOutcomeOpen(t *testing.T) {
	address := server(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
	_, err := ask(New(address), http.MethodPost, 50*time.Millisecond)
	var timeout interface{ Timeout() bool }
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
		if _, err := ask(client, http.MethodPost, time.Minute); err != nil {
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
		if _, err := ask(client, method, time.Minute); err != nil {
			t.Fatal(err)
		}
		if _, err := ask(client, method, time.Minute); err == nil {
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
		got, err := ask(client, http.MethodGet, time.Minute)
		if err != nil || string(got.Body()) != "a" {
			t.Fatalf("answer %v, %v", got, err)
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
	r := new(fasthttp.Request)
	taken := "POST /user/register?a=%20b HTTP/1.1\r\nHost: other\r\nContent-Type: application/json\r\nUser-Agent: k6\r\nX-Two: 1\r\nx-two: 2\r\n" +
		"Cookie: a=b; c=d\r\nConnection: keep-alive\r\nAccept-Encoding: gzip\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n"
	if err := r.Header.Read(bufio.NewReader(strings.NewReader(taken))); err != nil {
		t.Fatal(err)
	}
	r.SetBodyString("{}")
	if err := New(address).Do(r, new(fasthttp.Response), time.Minute); err != nil {
		t.Fatal(err)
	}
	want := http.Header{
		"Content-Type": {"application/json"}, "User-Agent": {"k6"}, "X-Two": {"1", "2"}, "Cookie": {"a=b; c=d"}, "Content-Length": {"2"},
	}
	if diff := cmp.Diff(want, got.Header); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
	if got.RequestURI != "/user/register?a=%20b" || got.Host != address || string(body) != "{}" {
		t.Errorf("uri %q host %q body %q", got.RequestURI, got.Host, body)
	}
}
