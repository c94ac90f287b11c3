package link

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// message of the packet queue with attributes, as the kernel tells it.
func message(kind uint16, body ...byte) []byte {
	b := binary.NativeEndian.AppendUint32(nil, uint32(messageHead+len(body)))
	b = binary.NativeEndian.AppendUint16(b, kind)
	return append(append(b, make([]byte, 10)...), body...)
}

func attr(kind uint16, data ...byte) []byte {
	b := binary.NativeEndian.AppendUint16(nil, uint16(attribute+len(data)))
	b = append(binary.NativeEndian.AppendUint16(b, kind), data...)
	return append(b, make([]byte, -len(b)&3)...)
}

func TestParsePacket(t *testing.T) {
	head := []byte{unix.AF_INET, 0, 0x10, 0x68}
	stamp := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, 1_700_000_000), 250_001)
	whole := append(append(append(head, attr(packetHeader, 0, 0, 1, 2, 8, 0, 0)...), attr(5, 0, 0, 0, 2)...), attr(packetTimestamp, stamp...)...)
	p, err := parsePacket(message(messagePacket, whole...))
	if must(t, err); p.id != 258 || !p.arrived.Equal(time.Unix(1_700_000_000, 250_001_000)) {
		t.Errorf("%+v", p)
	}
	p, err = parsePacket(message(messagePacket, append(head, attr(packetHeader, 0, 0, 0, 7, 8, 0, 0)...)...))
	if must(t, err); p.id != 7 || !p.arrived.IsZero() {
		t.Errorf("without a stamp: %+v", p)
	}
	errno := func(n unix.Errno) []byte { return binary.NativeEndian.AppendUint32(nil, uint32(-int32(n))) }
	if _, err := parsePacket(message(unix.NLMSG_ERROR, errno(unix.ENOENT)...)); !errors.Is(err, errGone) {
		t.Errorf("a packet that is no more: %v", err)
	}
	for name, c := range map[string]struct {
		message []byte
		says    string
	}{
		"too short":                      {message(messagePacket), "told 16 bytes"},
		"a verdict that is refused":      {message(unix.NLMSG_ERROR, errno(unix.EPERM)...), "operation not permitted"},
		"another kind":                   {message(messageConfig, head...), "kind 0x302"},
		"without a number":               {message(messagePacket, append(head, attr(packetTimestamp, stamp...)...)...), "without a number"},
		"an attribute that ends nowhere": {message(messagePacket, append(head, 200, 0, packetHeader, 0, 1, 2, 3, 4)...), "without a number"},
	} {
		if _, err := parsePacket(c.message); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
}
