package upstream

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"syscall"
	"time"

	"github.com/valyala/fasthttp"

	"replab.dev/internal/witness/message"
)

// conn is one connection, used by one request at a time.
type conn struct {
	net.Conn
	raw    syscall.RawConn
	reader *bufio.Reader
	out    []byte // for a request as it is sent, empty in between
	usedAt time.Time
}

func newConn(tcp net.Conn) (*conn, error) {
	c := &conn{Conn: tcp, reader: bufio.NewReaderSize(tcp, MaxHeadBytes)}
	var err error
	c.raw, err = tcp.(syscall.Conn).SyscallConn()
	return c, err
}

// alive tells whether the peer has neither closed the connection nor sent something that nobody asked for.
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

// exchange sends one request and reads its answer.
func (c *conn) exchange(host string, r *fasthttp.Request, a *fasthttp.Response) (reusable bool, err error) {
	request := appendRequest(c.out, host, r)
	c.out = message.Keep(request)
	if sent, err := c.Write(request); err != nil {
		if sent == 0 {
			return false, &NotSentError{err}
		}
		return false, fmt.Errorf("send the request to %s: %d of %d bytes sent: %w", host, sent, len(request), err)
	}
	if err := c.read(a, r.Header.IsHead()); err != nil {
		return false, fmt.Errorf("read the answer of %s: %w", host, err)
	}
	return !a.ConnectionClose(), nil
}

func appendRequest(b []byte, host string, r *fasthttp.Request) []byte {
	body := r.Body()
	b = append(b, r.Header.Method()...)
	b = append(b, ' ')
	b = append(b, r.Header.RequestURI()...)
	b = append(b, " HTTP/1.1\r\n"...)
	b = message.AppendField(b, "Host", host)
	b = message.AppendFields(b, r.Header.All())
	if len(body) > 0 || !r.Header.IsGet() && !r.Header.IsHead() {
		b = message.AppendField(b, "Content-Length", strconv.Itoa(len(body)))
	}
	b = append(b, "\r\n"...)
	return append(b, body...)
}

// read takes the answer to a request off the connection, past those that only announce it. The answer to a HEAD has no body.
func (c *conn) read(a *fasthttp.Response, head bool) error {
	a.SkipBody = head
	for {
		err := a.ReadLimitBody(c.reader, MaxBodyBytes)
		switch status := a.StatusCode(); {
		case errors.Is(err, fasthttp.ErrBodyTooLarge):
			return fmt.Errorf("status %d with a body above %d bytes", status, MaxBodyBytes)
		case err != nil:
			return err
		case status == http.StatusSwitchingProtocols:
			return errors.New("it changes to another protocol, which was not asked for")
		case status >= http.StatusOK:
			return nil
		}
	}
}
