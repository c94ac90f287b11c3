package director

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"replab.dev/internal/httpclient"
)

// newAgentClient makes the HTTP client for all agents. A request that is given up must not arrive later, when a partition
// ends: a lease would then stand that the director takes for run out. So a connection is reset when it is closed, and
// what waits to be sent again is dropped with it.
func newAgentClient() *http.Client {
	dialer := &net.Dialer{Timeout: 5 * time.Second}
	return httpclient.Client(&http.Transport{
		MaxIdleConnsPerHost: 2,
		IdleConnTimeout:     time.Minute,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := dialer.DialContext(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			if tcp, ok := conn.(*net.TCPConn); ok {
				err = tcp.SetLinger(0)
			}
			return conn, err
		},
	})
}

// neverSent tells that a request certainly did not reach the agent: no connection came to be.
func neverSent(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}
