// Package upstream is an HTTP/1.1 client for one address that sends every request at most once, and reports what was certainly not sent. net/http
// promises neither: it may repeat a request, and its errors do not say whether the request left.
package upstream

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// Request is sent as it is, without headers of one connection, and without compression.
type Request struct {
	Method string
	Target string // path and query
	Header http.Header
	// ExtraName and ExtraValue are one more header, when ExtraName is not empty.
	ExtraName, ExtraValue string
	Body                  []byte
}

// Response is an answer that arrived whole.
type Response struct {
	Status int
	Header http.Header // without those that belong to one connection, and without the length
	Body   []byte
}

// NotSentError wraps the reason why no byte of a request reached the network.
type NotSentError struct{ Cause error }

func (e *NotSentError) Error() string { return fmt.Sprintf("nothing was sent: %v", e.Cause) }

// Unwrap returns the reason.
func (e *NotSentError) Unwrap() error { return e.Cause }

// MaxResponseBytes bounds the body of an answer.
const MaxResponseBytes = 16 << 20

// perConnection are hop-by-hop headers (RFC 9110, section 7.6.1), and those that change an answer's encoding or framing.
var perConnection = map[string]bool{
	"Connection": true, "Proxy-Connection": true, "Keep-Alive": true, "Proxy-Authenticate": true,
	"Proxy-Authorization": true, "Te": true, "Trailer": true, "Transfer-Encoding": true, "Upgrade": true,
	"Content-Length": true, "Host": true, "Expect": true, "Accept-Encoding": true,
}

const (
	maxIdle = 1024
	// idleTimeout is shorter than servers': a request that meets the end of its connection has an unknown outcome.
	idleTimeout = 20 * time.Second
)

// Client keeps connections to one address alive. Its methods may be called concurrently.
type Client struct {
	address string
	dialer  net.Dialer

	mu   sync.Mutex
	idle []*conn // the one used last is at the end
}

// New returns a client for a host:port.
func New(address string) *Client {
	return &Client{address: address}
}

// Do sends the request once and returns the whole answer. After errors other than *NotSentError the outcome is unknown.
func (c *Client) Do(request *Request, timeout time.Duration) (*Response, error) {
	deadline := time.Now().Add(timeout)
	conn, err := c.connection(deadline)
	if err != nil {
		return nil, &NotSentError{fmt.Errorf("connect to %s: %w", c.address, err)}
	}
	response, reusable, err := conn.exchange(c.address, request)
	if err != nil {
		_ = conn.Close() // the error that counts is that of the exchange
		return nil, err
	}
	if reusable {
		c.keep(conn)
	} else {
		_ = conn.Close() // the answer is complete
	}
	return response, nil
}

// connection returns one that is alive as far as this side can know, with its deadline set.
func (c *Client) connection(deadline time.Time) (*conn, error) {
	for {
		conn := c.take()
		if conn == nil {
			break
		}
		if conn.SetDeadline(deadline) == nil && conn.alive() {
			return conn, nil
		}
		_ = conn.Close() // it is dead already
	}
	ctx, cancel := context.WithDeadline(context.Background(), deadline)
	defer cancel()
	tcp, err := c.dialer.DialContext(ctx, "tcp", c.address)
	if err != nil {
		return nil, err
	}
	conn, err := newConn(tcp)
	if err == nil {
		err = conn.SetDeadline(deadline)
	}
	if err != nil {
		_ = tcp.Close() // the error that counts is the first
		return nil, err
	}
	return conn, nil
}

func (c *Client) take() *conn {
	c.mu.Lock()
	defer c.mu.Unlock()
	last := len(c.idle) - 1
	if last < 0 {
		return nil
	}
	conn := c.idle[last]
	c.idle[last] = nil
	c.idle = c.idle[:last]
	return conn
}

func (c *Client) keep(used *conn) {
	used.usedAt = time.Now()
	var dropped *conn
	c.mu.Lock()
	if len(c.idle) > 0 && (len(c.idle) >= maxIdle || used.usedAt.Sub(c.idle[0].usedAt) > idleTimeout) {
		dropped = c.idle[0]
		c.idle = append(c.idle[:0], c.idle[1:]...)
	}
	c.idle = append(c.idle, used)
	c.mu.Unlock()
	if dropped != nil {
		_ = dropped.Close() // nothing is under way on it
	}
}

// conn is one connection, used by one request at a time.
type conn struct {
	net.Conn
	raw    syscall.RawConn
	reader *bufio.Reader
	usedAt time.Time
}

func newConn(tcp net.Conn) (*conn, error) {
	c := &conn{Conn: tcp, reader: bufio.NewReader(tcp)}
	var err error
	c.raw, err = tcp.(syscall.Conn).SyscallConn()
	return c, err
}

// alive reports whether the peer neither closed the connection nor sent unrequested bytes.
func (c *conn) alive() bool {
	if c.reader.Buffered() > 0 {
		return false
	}
	var buf [1]byte
	var peeked error
	err := c.raw.Read(func(fd uintptr) bool {
		_, _, peeked = syscall.Recvfrom(int(fd), buf[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		return true
	})
	return err == nil && errors.Is(peeked, syscall.EAGAIN)
}

var requests = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// exchange sends one request and reads its answer.
func (c *conn) exchange(host string, request *Request) (response *Response, reusable bool, err error) {
	buf := requests.Get().(*bytes.Buffer)
	defer requests.Put(buf)
	buf.Reset()
	encode(buf, host, request)
	if sent, err := c.Write(buf.Bytes()); err != nil {
		if sent == 0 {
			return nil, false, &NotSentError{err}
		}
		return nil, false, fmt.Errorf("send the request to %s: %d of %d bytes sent: %w", host, sent, buf.Len(), err)
	}
	response, reusable, err = c.answer(request.Method)
	if err != nil {
		return nil, false, fmt.Errorf("read the answer of %s: %w", host, err)
	}
	return response, reusable, nil
}

func encode(buf *bytes.Buffer, host string, request *Request) {
	buf.WriteString(request.Method)
	buf.WriteByte(' ')
	buf.WriteString(request.Target)
	buf.WriteString(" HTTP/1.1\r\n")
	field(buf, "Host", host)
	for name, values := range request.Header {
		if perConnection[name] {
			continue
		}
		for _, value := range values {
			field(buf, name, value)
		}
	}
	if request.ExtraName != "" {
		field(buf, request.ExtraName, request.ExtraValue)
	}
	if len(request.Body) > 0 || request.Method != http.MethodGet && request.Method != http.MethodHead {
		field(buf, "Content-Length", strconv.Itoa(len(request.Body)))
	}
	buf.WriteString("\r\n")
	buf.Write(request.Body)
}

func field(buf *bytes.Buffer, name, value string) {
	buf.WriteString(name)
	buf.WriteString(": ")
	buf.WriteString(value)
	buf.WriteString("\r\n")
}

// The methods that http.ReadResponse tells apart: the answer to a HEAD has no body.
var (
	questionHead = &http.Request{Method: http.MethodHead}
	questionGet  = &http.Request{Method: http.MethodGet}
)

func (c *conn) answer(method string) (*Response, bool, error) {
	question := questionGet
	if method == http.MethodHead {
		question = questionHead
	}
	for {
		answer, err := http.ReadResponse(c.reader, question)
		if err != nil {
			return nil, false, err
		}
		if answer.StatusCode == http.StatusSwitchingProtocols {
			return nil, false, errors.New("it changes to another protocol, which was not asked for")
		}
		if answer.StatusCode >= 200 {
			return c.body(answer)
		}
	}
}

func (c *conn) body(answer *http.Response) (*Response, bool, error) {
	var body []byte
	var err error
	if n := answer.ContentLength; n > 0 && n <= MaxResponseBytes && answer.Request.Method != http.MethodHead {
		body = make([]byte, n)
		_, err = io.ReadFull(answer.Body, body)
	} else if answer.Body != http.NoBody {
		body, err = io.ReadAll(io.LimitReader(answer.Body, MaxResponseBytes+1))
	}
	if err != nil {
		return nil, false, fmt.Errorf("status %d, then its body: %w", answer.StatusCode, err)
	}
	if len(body) > MaxResponseBytes {
		return nil, false, fmt.Errorf("status %d with a body above %d bytes", answer.StatusCode, MaxResponseBytes)
	}
	maps.DeleteFunc(answer.Header, func(name string, _ []string) bool { return perConnection[name] })
	return &Response{Status: answer.StatusCode, Header: answer.Header, Body: body}, !answer.Close, nil
}
