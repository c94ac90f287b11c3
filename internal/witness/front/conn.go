package front

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"

	"replab.dev/internal/witness/message"
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
	handle  Handler
	reader  *bufio.Reader // a head must fit in
	request fasthttp.Request
	answer  fasthttp.Response
	out     []byte // for an answer as it is sent, empty in between
	state   atomic.Int32
}

func newConn(tcp net.Conn, handle Handler) *conn {
	return &conn{Conn: tcp, handle: handle, reader: bufio.NewReaderSize(tcp, MaxHeadBytes)}
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

// begins waits for the first byte of a request, as long as the client likes, and tells whether to take it.
func (c *conn) begins() bool {
	if _, err := c.reader.Peek(1); err != nil {
		return false
	}
	return c.state.CompareAndSwap(idle, busy)
}

// once takes a request, answers it, and tells whether another may follow on this connection.
func (c *conn) once() bool {
	r, a := &c.request, &c.answer
	r.Reset()
	a.Reset()
	if refused := c.read(r); refused != nil {
		c.refuse(refused)
		return false
	}
	head, last := r.Header.IsHead(), r.Header.ConnectionClose() || !r.Header.IsHTTP11()
	c.handle(r, a)
	last = last || c.state.Load() == leaving
	return c.write(a, head, last) == nil && !last
}

// refusal is why a request is not taken.
type refusal struct {
	status int
	cause  error
}

// read takes a whole request off the connection.
func (c *conn) read(r *fasthttp.Request) *refusal {
	if refused := c.head(r); refused != nil {
		return refused
	}
	if err := c.body(r); err != nil {
		return &refusal{http.StatusBadRequest, fmt.Errorf("read the request's body: %w", err)}
	}
	return nil
}

// head sets a deadline only if the head has not come in one piece, as nearly all do.
func (c *conn) head(r *fasthttp.Request) *refusal {
	came, _ := c.reader.Peek(c.reader.Buffered()) // it cannot fail
	if !bytes.Contains(came, []byte("\r\n\r\n")) {
		_ = c.SetReadDeadline(time.Now().Add(headTimeout)) // a connection that is closed fails to be read
		defer func() { _ = c.SetReadDeadline(time.Time{}) }()
	}
	err := r.Header.Read(c.reader)
	var tooLong *fasthttp.ErrSmallBuffer
	switch {
	case errors.As(err, &tooLong):
		return &refusal{http.StatusRequestHeaderFieldsTooLarge, fmt.Errorf("the request's head has more than the %d bytes that are taken", MaxHeadBytes)}
	case err != nil:
		return &refusal{http.StatusBadRequest, fmt.Errorf("read the request: %w", err)}
	case !bytes.HasPrefix(r.Header.Protocol(), []byte("HTTP/1.")):
		return &refusal{http.StatusHTTPVersionNotSupported, fmt.Errorf("HTTP/1.1 is spoken here, not %s", r.Header.Protocol())}
	}
	return nil
}

func (c *conn) body(r *fasthttp.Request) error {
	if n := r.Header.ContentLength(); n > MaxBodyBytes {
		return fmt.Errorf("it has %d bytes, at most %d are taken", n, MaxBodyBytes)
	}
	if r.MayContinue() { // the client waits for leave to send it
		if _, err := io.WriteString(c, "HTTP/1.1 100 Continue\r\n\r\n"); err != nil {
			return err
		}
	}
	err := r.ContinueReadBody(c.reader, MaxBodyBytes, false)
	if errors.Is(err, fasthttp.ErrBodyTooLarge) {
		return fmt.Errorf("it has more than the %d bytes that are taken", MaxBodyBytes)
	}
	return err
}

// lingering is how long the client of a refused request is listened to, so that a reset does not overtake its answer.
const lingering = 500 * time.Millisecond

// refuse answers a request that was not read to its end: nothing can follow it.
func (c *conn) refuse(r *refusal) {
	Refuse(&c.answer, r.status, r.cause.Error())
	if c.write(&c.answer, false, true) != nil {
		return
	}
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		_ = c.SetReadDeadline(time.Now().Add(lingering))
		_, _ = io.Copy(io.Discard, c.Conn) // until the client closes too, or the time is over
	}
}

// write sends an answer. A client that is gone does not matter any more: what became of its request is known.
func (c *conn) write(a *fasthttp.Response, head, last bool) error {
	answer := appendAnswer(c.out, a, head, last)
	c.out = message.Keep(answer)
	_, err := c.Write(answer)
	return err
}

func appendAnswer(b []byte, a *fasthttp.Response, head, last bool) []byte {
	status, body := a.StatusCode(), a.Body()
	b = append(b, "HTTP/1.1 "...)
	b = strconv.AppendInt(b, int64(status), 10)
	b = append(b, ' ')
	b = append(b, http.StatusText(status)...)
	b = append(b, "\r\n"...)
	a.Header.SetNoDefaultContentType(true) // an answer that does not say what it is stays so
	b = message.AppendFields(b, a.Header.All())
	bodiless := status == http.StatusNoContent || status == http.StatusNotModified
	if !bodiless {
		b = message.AppendField(b, "Content-Length", strconv.Itoa(len(body)))
	}
	if last {
		b = message.AppendField(b, "Connection", "close")
	}
	b = append(b, "\r\n"...)
	if !bodiless && !head {
		b = append(b, body...)
	}
	return b
}
