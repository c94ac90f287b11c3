package link

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"replab.dev/internal/wire"
)

// ErrInvalid is of a request that no agent can carry out.
var ErrInvalid = errors.New("invalid links")

// mostDelay is longer than any link's.
const mostDelay = time.Minute

// lane is what is delayed alike: packets of all its addresses keep their order.
type lane struct {
	delay     time.Duration
	addresses []netip.Addr
}

// name of the lane among those of its pod.
func (l lane) name() string { return strconv.FormatInt(l.delay.Microseconds(), 10) + "us" }

// lanesOf sorts the addresses that have a delay by it.
func lanesOf(peers []wire.Peer) ([]lane, error) {
	var lanes []lane
	seen := map[netip.Addr]bool{}
	for _, p := range peers {
		address, err := netip.ParseAddr(p.Address)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
		}
		address = address.Unmap()
		delay := time.Duration(p.DelayMicroseconds) * time.Microsecond
		switch {
		case seen[address]:
			return nil, fmt.Errorf("%w: %s is there twice", ErrInvalid, address)
		case delay < 0 || delay > mostDelay:
			return nil, fmt.Errorf("%w: the delay of %s is %s, not from 0 to %s", ErrInvalid, address, delay, mostDelay)
		}
		seen[address] = true
		if delay == 0 {
			continue
		}
		i, found := slices.BinarySearchFunc(lanes, delay, func(l lane, d time.Duration) int { return int(l.delay - d) })
		if !found {
			lanes = slices.Insert(lanes, i, lane{delay: delay})
		}
		lanes[i].addresses = append(lanes[i].addresses, address)
	}
	return lanes, nil
}
