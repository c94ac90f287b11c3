package link

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// Numbers of the kernel's packet queues, which are in no package.
const (
	messagePacket  = unix.NFNL_SUBSYS_QUEUE << 8
	messageVerdict = messagePacket | 1
	messageConfig  = messagePacket | 2

	packetHeader     = 1
	packetVerdict    = 2
	packetTimestamp  = 4
	configCommand    = 1
	configParameters = 2
	configMostLength = 3
	configMask       = 4
	configFlags      = 5

	commandBind = 1
	copyMeta    = 1 // the packet's data stay where they are
	flagGSO     = 4 // what the kernel has put together stays together
	accept      = 1
)

const (
	messageHead  = 16 // of netlink
	queueHead    = 4  // family, version and number of the queue
	attribute    = 4  // length and type
	verdictBytes = messageHead + queueHead + attribute + 8
)

// kernelQueue is a packet queue of the kernel: it tells of packets, and lets them go. One goroutine at a time may use it.
type kernelQueue struct {
	conn     *netlink.Conn
	fd       int // of conn
	number   uint16
	buffer   []byte
	verdicts [mostAtOnce * verdictBytes]byte
}

// openKernelQueue begins to read a queue, which takes up to length packets: those beyond are dropped.
func openKernelQueue(number uint16, length uint32) (*kernelQueue, error) {
	conn, err := netlink.Dial(unix.NETLINK_NETFILTER, nil)
	if err != nil {
		return nil, err
	}
	k := &kernelQueue{conn: conn, number: number, buffer: make([]byte, 8<<10)}
	if err := k.begin(length); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return k, nil
}

func (k *kernelQueue) begin(length uint32) error {
	raw, err := k.conn.SyscallConn()
	if err != nil {
		return err
	}
	if err := raw.Control(func(fd uintptr) { k.fd = int(fd) }); err != nil { // it stays open as long as conn does
		return err
	}
	if err := k.conn.SetReadBuffer(queueBuffer); err != nil {
		return err
	}
	// A buffer that is full shows by the packets' numbers, and is no reason to stop.
	if err := k.conn.SetOption(netlink.NoENOBUFS, true); err != nil {
		return err
	}
	number := func(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, n) }
	for _, attributes := range [][]netlink.Attribute{
		{{Type: configCommand, Data: []byte{commandBind, 0, 0, 0}}},
		{{Type: configParameters, Data: []byte{0, 0, 0, 0, copyMeta}}},
		{{Type: configFlags, Data: number(flagGSO)}, {Type: configMask, Data: number(flagGSO)}, {Type: configMostLength, Data: number(length)}},
	} {
		data, err := netlink.MarshalAttributes(attributes)
		if err != nil {
			return err
		}
		if _, err := k.conn.Execute(netlink.Message{
			Header: netlink.Header{Type: messageConfig, Flags: netlink.Request | netlink.Acknowledge}, Data: append(k.head(nil), data...),
		}); err != nil {
			return err
		}
	}
	return nil
}

func (k *kernelQueue) close() error { return k.conn.Close() }

// head begins each message about the queue.
func (k *kernelQueue) head(b []byte) []byte {
	return binary.BigEndian.AppendUint16(append(b, unix.AF_UNSPEC, unix.NFNETLINK_V0), k.number)
}

// packetInfo is what the kernel tells of a packet: a number, counted from 1, and when it arrived, zero if it was not stamped.
type packetInfo struct {
	id      uint32
	arrived time.Time
}

// errGone: the kernel dropped the packet before it could be released.
var errGone = errors.New("the kernel dropped a packet while it waited")

// read what the kernel tells next, without waiting: ok is false when there is nothing.
func (k *kernelQueue) read() (p packetInfo, ok bool, err error) {
	n, err := unix.Read(k.fd, k.buffer)
	switch {
	case errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR):
		return p, false, nil
	case err != nil:
		return p, false, fmt.Errorf("read the packet queue: %w", err)
	}
	p, err = parsePacket(k.buffer[:n])
	return p, true, err
}

// parsePacket reads a message: of a packet, or the answer to one that was to let a packet go.
func parsePacket(b []byte) (packetInfo, error) {
	var p packetInfo
	if len(b) < messageHead+queueHead {
		return p, fmt.Errorf("the packet queue told %d bytes", len(b))
	}
	switch kind := binary.NativeEndian.Uint16(b[4:]); kind {
	case messagePacket:
	case unix.NLMSG_ERROR:
		if errno := unix.Errno(-int32(binary.NativeEndian.Uint32(b[messageHead:]))); errno != unix.ENOENT {
			return p, fmt.Errorf("let packets go: %w", errno)
		}
		return p, errGone
	default:
		return p, fmt.Errorf("the packet queue told something of kind %#x", kind)
	}
	for b = b[messageHead+queueHead:]; len(b) >= attribute; {
		length := int(binary.NativeEndian.Uint16(b))
		if length < attribute || length > len(b) {
			break
		}
		data := b[attribute:length]
		switch kind := binary.NativeEndian.Uint16(b[2:]); {
		case kind == packetHeader && len(data) >= 4:
			p.id = binary.BigEndian.Uint32(data)
		case kind == packetTimestamp && len(data) >= 16:
			p.arrived = time.Unix(int64(binary.BigEndian.Uint64(data)), int64(binary.BigEndian.Uint64(data[8:]))*1000)
		}
		b = b[min((length+3)&^3, len(b)):]
	}
	if p.id == 0 {
		return p, errors.New("the packet queue told of a packet without a number")
	}
	return p, nil
}

// letGo lets packets go, at most mostAtOnce. Each has a verdict of its own, since the kernel answers to each that it does not have any more.
func (k *kernelQueue) letGo(packets []packet) error {
	b := k.verdicts[:0]
	for _, p := range packets {
		b = binary.NativeEndian.AppendUint32(b, verdictBytes)
		b = binary.NativeEndian.AppendUint16(b, messageVerdict)
		b = binary.NativeEndian.AppendUint16(b, unix.NLM_F_REQUEST)
		b = k.head(append(b, 0, 0, 0, 0, 0, 0, 0, 0)) // nothing refers to its number, and it is from nobody
		b = binary.NativeEndian.AppendUint16(b, attribute+8)
		b = binary.NativeEndian.AppendUint16(b, packetVerdict)
		b = binary.BigEndian.AppendUint32(b, accept)
		b = binary.BigEndian.AppendUint32(b, p.id)
	}
	if _, err := unix.Write(k.fd, b); err != nil {
		return fmt.Errorf("let packets go: %w", err)
	}
	return nil
}
