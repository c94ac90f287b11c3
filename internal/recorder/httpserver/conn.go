package httpserver

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// What a connection is at.
const (
	idle    int32 = iota // no byte of a request has come
	busy                 // a request is under way
	leaving              // the server stops: the request under way is the last
)

// conn is one connection, served by one goroutine.
type conn struct {
	net.Conn
	handle Handler
	limit  *io.LimitedReader // of what reader may still take off the connection
	reader *bufio.Reader
	out    bytes.Buffer // an answer
	state  atomic.Int32
}

func newConn(tcp net.Conn, handle Handler) *conn {
	limit := &io.LimitedReader{R: tcp, N: math.MaxInt64}
	return &conn{Conn: tcp, handle: handle, limit: limit, reader: bufio.NewReader(limit)}
}

// serve answers one request after another.
func (c *conn) serve() {
	defer c.Close()
	defer func() {
		if cause := recover(); cause != nil { // what the handler keeps account of is up to it
			slog.Error("a request's handler panicked", "cause", cause, "stack", string(debug.Stack()))
		}
	}()
	for c.begins() && c.once() && c.state.CompareAndSwap(busy, idle) {
	}
}

// leave is called when the server stops.
func (c *conn) leave() {
	if c.state.Swap(leaving) == idle {
		c.Close()
	}
}

// begins waits for the first byte of a request, and reports whether to take it.
func (c *conn) begins() bool {
	if _, err := c.reader.Peek(1); err != nil {
		return false
	}
	return c.state.CompareAndSwap(idle, busy)
}

// once answers one request, and reports whether another may follow.
func (c *conn) once() bool {
	r, body, refused := c.read()
	if refused != nil {
		c.refuse(refused)
		return false
	}
	a := c.handle(r, body)
	last := r.Close || !r.ProtoAtLeast(1, 1) || c.state.Load() == leaving
	return c.write(a, r.Method == http.MethodHead, last) == nil && !last
}

// refusal is why a request is not taken.
type refusal struct {
	status int
	cause  error
}

// read takes a whole request off the connection.
func (c *conn) read() (*http.Request, []byte, *refusal) {
	r, refused := c.head()
	if refused != nil {
		return nil, nil, refused
	}
	body, err := c.body(r)
	if err != nil {
		return nil, nil, &refusal{http.StatusBadRequest, fmt.Errorf("read the request's body: %w", err)}
	}
	return r, body, nil
}

// head sets a deadline only if the head has not come in one piece, as nearly all do.
func (c *conn) head() (*http.Request, *refusal) {
	came, _ := c.reader.Peek(c.reader.Buffered()) // it cannot fail
	if !bytes.Contains(came, []byte("\r\n\r\n")) {
		_ = c.SetReadDeadline(time.Now().Add(headTimeout)) // a connection that is closed fails to be read
		defer func() { _ = c.SetReadDeadline(time.Time{}) }()
	}
	c.limit.N = MaxHeadBytes
	r, err := http.ReadRequest(c.reader)
	tooLong := err != nil && c.limit.N <= 0
	c.limit.N = math.MaxInt64
	switch {
	case tooLong:
		return nil, &refusal{http.StatusRequestHeaderFieldsTooLarge, fmt.Errorf("the request's head has more than the %d bytes that are taken", MaxHeadBytes)}
	case err != nil:
		return nil, &refusal{http.StatusBadRequest, fmt.Errorf("read the request: %w", err)}
	case r.ProtoMajor != 1:
		return nil, &refusal{http.StatusHTTPVersionNotSupported, errors.New("HTTP/1.1 is spoken here, not " + r.Proto)}
	case r.Host == "" && r.ProtoAtLeast(1, 1):
		return nil, &refusal{http.StatusBadRequest, errors.New("the request names no host")}
	}
	return r, nil
}

func (c *conn) body(r *http.Request) ([]byte, error) {
	if r.ContentLength == 0 {
		return nil, nil
	}
	if r.ContentLength > MaxBodyBytes {
		return nil, fmt.Errorf("it has %d bytes, at most %d are taken", r.ContentLength, MaxBodyBytes)
	}
	if strings.EqualFold(r.Header.Get("Expect"), "100-continue") { // the client waits for leave to send it
		if _, err := io.WriteString(c, "HTTP/1.1 100 Continue\r\n\r\n"); err != nil {
			return nil, err
		}
	}
	if r.ContentLength > 0 {
		body := make([]byte, r.ContentLength)
		_, err := io.ReadFull(r.Body, body)
		return body, err
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, MaxBodyBytes+1))
	if len(body) > MaxBodyBytes {
		err = fmt.Errorf("it has more than the %d bytes that are taken", MaxBodyBytes)
	}
	return body, err
}

// lingering is how long the client of a refused request is listened to, so that a reset does not overtake its answer.
const lingering = 500 * time.Millisecond

// refuse answers a request that was not read to its end: nothing can follow it.
func (c *conn) refuse(r *refusal) {
	if c.write(Refusal(r.status, r.cause.Error()), false, true) != nil {
		return
	}
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		_ = c.SetReadDeadline(time.Now().Add(lingering))
		_, _ = io.Copy(io.Discard, c.Conn) // until the client closes too, or the time is over
	}
}

// write sends an answer. An error does not matter to the request: its outcome is known.
func (c *conn) write(a Answer, head, last bool) error {
	b := &c.out
	b.Reset()
	b.WriteString("HTTP/1.1 ")
	b.WriteString(strconv.Itoa(a.Status))
	b.WriteByte(' ')
	b.WriteString(http.StatusText(a.Status))
	b.WriteString("\r\n")
	for name, values := range a.Header {
		for _, value := range values {
			field(b, name, value)
		}
	}
	bodiless := a.Status == http.StatusNoContent || a.Status == http.StatusNotModified
	if !bodiless {
		field(b, "Content-Length", strconv.Itoa(len(a.Body)))
	}
	if last {
		field(b, "Connection", "close")
	}
	b.WriteString("\r\n")
	if !bodiless && !head {
		b.Write(a.Body)
	}
	_, err := c.Write(b.Bytes())
	if b.Cap() > maxKept {
		c.out = bytes.Buffer{}
	}
	return err
}

// maxKept bounds the memory that an answer leaves with its connection.
const maxKept = 64 << 10

func field(b *bytes.Buffer, name, value string) {
	b.WriteString(name)
	b.WriteString(": ")
	b.WriteString(value)
	b.WriteString("\r\n")
}
