package link

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"replab.dev/internal/percentile"
	"replab.dev/internal/wire"
)

// Bounds of a request to measure.
const (
	mostSamples = 1000
	mostTimeout = time.Minute
)

// Measure the round trips to addresses: how long it takes to open a connection, with which no process on the other side has to do. All
// addresses are measured at once, and samples do not wait for the one before.
func Measure(ctx context.Context, r wire.RoundTripRequest) (wire.RoundTrips, error) {
	interval, timeout := time.Duration(r.IntervalMilliseconds)*time.Millisecond, time.Duration(r.TimeoutMilliseconds)*time.Millisecond
	if r.Samples < 1 || r.Samples > mostSamples || interval < 0 || timeout <= 0 || interval > mostTimeout || timeout > mostTimeout {
		return wire.RoundTrips{}, fmt.Errorf("%w: %d samples every %s, each given up after %s", ErrInvalid, r.Samples, interval, timeout)
	}
	all := wire.RoundTrips{RoundTrips: make([]wire.RoundTrip, len(r.Addresses))}
	var group sync.WaitGroup
	for i, address := range r.Addresses {
		group.Go(func() {
			answers := sample(ctx, r.Samples, interval, func() answer {
				return connect(ctx, net.JoinHostPort(address, strconv.Itoa(wire.PortAgent)), timeout)
			})
			all.RoundTrips[i] = roundTrip(address, answers)
		})
	}
	group.Wait()
	return all, ctx.Err()
}

// answer to one sample.
type answer struct {
	after time.Duration
	err   error
}

// sample asks n times, an interval apart.
func sample(ctx context.Context, n int, interval time.Duration, ask func() answer) []answer {
	answers := make([]answer, n)
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() { answers[i] = ask() })
		select {
		case <-ctx.Done():
		case <-time.After(interval):
		}
	}
	group.Wait()
	return answers
}

// connect opens a connection and closes it again. A port on which nobody listens answers as well.
func connect(ctx context.Context, to string, timeout time.Duration) answer {
	dialer := net.Dialer{Timeout: timeout}
	began := time.Now()
	conn, err := dialer.DialContext(ctx, "tcp", to)
	after := time.Since(began)
	if err == nil {
		_ = conn.(*net.TCPConn).SetLinger(0) // it leaves nothing behind
		_ = conn.Close()
	}
	if errors.Is(err, unix.ECONNREFUSED) {
		err = nil
	}
	return answer{after, err}
}

func roundTrip(address string, answers []answer) wire.RoundTrip {
	r := wire.RoundTrip{Address: address}
	var times []int64
	for _, a := range answers {
		if a.err != nil {
			r.Why = a.err.Error()
			continue
		}
		times = append(times, a.after.Microseconds())
	}
	if r.Samples = int64(len(times)); r.Samples == 0 {
		return r
	}
	slices.Sort(times)
	r.P50Microseconds = times[percentile.Rank(50, r.Samples)-1]
	r.P99Microseconds = times[percentile.Rank(99, r.Samples)-1]
	return r
}
