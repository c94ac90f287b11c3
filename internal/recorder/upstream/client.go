package upstream

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"
)

const (
	maxIdle = 1024
	// idleTimeout is how long a connection may lie unused. Servers close theirs after a minute or more, and a request that
	// meets its connection's end on the way has an unknown outcome.
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

// Do sends the request once and returns the whole answer, within timeout. Every error but a *NotSentError leaves open
// what the server made of the request.
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
