package upstream

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"syscall"
	"time"
)

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
	for name := range perConnection {
		delete(answer.Header, name)
	}
	return &Response{Status: answer.StatusCode, Header: answer.Header, Body: body}, !answer.Close, nil
}
