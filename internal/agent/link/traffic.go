package link

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// traffic speaks with the kernel's traffic control.
type traffic struct{ conn *netlink.Conn }

// Attributes of queueing disciplines, which are in no package.
const (
	tcaKind           = 1
	tcaOptions        = 2
	tcaStats2         = 7
	tcaStatsBasic     = 1
	tcaStatsQueue     = 3
	tcaNetemLatency64 = 10

	rootHandle = 0xffffffff
	prioHandle = 0x00010000
)

// class of the prio at each device's root, from 1.
func class(n int) uint32 { return prioHandle | uint32(n) }

func openTraffic() (*traffic, error) {
	conn, err := netlink.Dial(unix.NETLINK_ROUTE, nil)
	if err != nil {
		return nil, fmt.Errorf("open traffic control: %w", err)
	}
	return &traffic{conn}, nil
}

// delay implements disciplines.
func (t *traffic) delay(device int, delays []time.Duration) error {
	if err := t.addPrio(device, len(delays)+1); err != nil {
		return fmt.Errorf("the kernel's prio: %w", err)
	}
	for i, delay := range delays {
		if err := t.addNetem(device, i+2, delay, queueLength); err != nil {
			return fmt.Errorf("the kernel's netem: %w", err)
		}
	}
	return nil
}

// header of a queueing discipline's message.
func header(device int, handle, parent uint32) []byte {
	b := make([]byte, 4, 20) // the family is none
	b = binary.NativeEndian.AppendUint32(b, uint32(device))
	b = binary.NativeEndian.AppendUint32(b, handle)
	b = binary.NativeEndian.AppendUint32(b, parent)
	return binary.NativeEndian.AppendUint32(b, 0)
}

func (t *traffic) add(head []byte, kind string, options []byte) error {
	attributes, err := netlink.MarshalAttributes([]netlink.Attribute{
		{Type: tcaKind, Data: append([]byte(kind), 0)}, {Type: tcaOptions, Data: options},
	})
	if err != nil {
		return err
	}
	_, err = t.conn.Execute(netlink.Message{
		Header: netlink.Header{Type: unix.RTM_NEWQDISC, Flags: netlink.Request | netlink.Acknowledge | netlink.Create | netlink.Replace},
		Data:   append(head, attributes...),
	})
	return err
}

// addPrio makes bands at the root of a device. What is not sorted into one of them goes into the first.
func (t *traffic) addPrio(device, bands int) error {
	options := binary.NativeEndian.AppendUint32(nil, uint32(bands))
	options = append(options, make([]byte, 16)...) // the band of each priority
	return t.add(header(device, prioHandle, rootHandle), "prio", options)
}

// addNetem delays what is in a class.
func (t *traffic) addNetem(device, n int, delay time.Duration, packets uint32) error {
	options, err := netemOptions(delay, packets)
	if err != nil {
		return err
	}
	return t.add(header(device, uint32(0x10+n)<<16, class(n)), "netem", options)
}

// netemOptions are a structure, of which only the limit is used, and an attribute.
func netemOptions(delay time.Duration, packets uint32) ([]byte, error) {
	options := make([]byte, 24)
	binary.NativeEndian.PutUint32(options[4:], packets)
	latency, err := netlink.MarshalAttributes([]netlink.Attribute{
		{Type: tcaNetemLatency64, Data: binary.NativeEndian.AppendUint64(nil, uint64(delay.Nanoseconds()))},
	})
	return append(options, latency...), err
}

// undelay implements disciplines.
func (t *traffic) undelay(device int) error {
	_, err := t.conn.Execute(netlink.Message{
		Header: netlink.Header{Type: unix.RTM_DELQDISC, Flags: netlink.Request | netlink.Acknowledge}, Data: header(device, 0, rootHandle),
	})
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EINVAL) { // there is none
		return nil
	}
	return err
}

// counters implements disciplines.
func (t *traffic) counters(device int) (passed, error) {
	var sum passed
	found, err := t.conn.Execute(netlink.Message{
		Header: netlink.Header{Type: unix.RTM_GETQDISC, Flags: netlink.Request | netlink.Dump}, Data: header(device, 0, 0),
	})
	if err != nil {
		return sum, err
	}
	for _, m := range found {
		if len(m.Data) < 20 || binary.NativeEndian.Uint32(m.Data[4:]) != uint32(device) {
			continue
		}
		p, err := countersOf(m.Data[20:])
		if err != nil {
			return sum, err
		}
		sum = sum.plus(p)
	}
	return sum, nil
}

// countersOf a queueing discipline that is a netem; of others they are none.
func countersOf(attributes []byte) (passed, error) {
	var p passed
	a, err := netlink.NewAttributeDecoder(attributes)
	if err != nil {
		return p, err
	}
	kind := ""
	for a.Next() {
		switch a.Type() {
		case tcaKind:
			kind = a.String()
		case tcaStats2:
			a.Nested(func(s *netlink.AttributeDecoder) error {
				for s.Next() {
					switch b := s.Bytes(); {
					case s.Type() == tcaStatsBasic && len(b) >= 12:
						p.packets = int64(binary.NativeEndian.Uint32(b[8:]))
					case s.Type() == tcaStatsQueue && len(b) >= 12:
						p.dropped = int64(binary.NativeEndian.Uint32(b[8:]))
					}
				}
				return nil
			})
		}
	}
	if kind != "netem" {
		return passed{}, a.Err()
	}
	return p, a.Err()
}
