// Package message writes HTTP/1.1 messages that are handed from one connection to another.
package message

import "iter"

// AppendFields appends those headers that do not belong to one connection.
func AppendFields(b []byte, fields iter.Seq2[[]byte, []byte]) []byte {
	for name, value := range fields {
		if !perConnection[string(name)] {
			b = AppendField(b, name, value)
		}
	}
	return b
}

// AppendField appends one header.
func AppendField[T string | []byte](b []byte, name, value T) []byte {
	b = append(b, name...)
	b = append(b, ": "...)
	b = append(b, value...)
	return append(b, "\r\n"...)
}

// perConnection are headers that one hop says to the next, see RFC 9110 section 7.6.1, and those that would change how
// the answer is encoded or framed.
var perConnection = map[string]bool{
	"Connection": true, "Proxy-Connection": true, "Keep-Alive": true, "Proxy-Authenticate": true,
	"Proxy-Authorization": true, "Te": true, "Trailer": true, "Transfer-Encoding": true, "Upgrade": true,
	"Content-Length": true, "Host": true, "Expect": true, "Accept-Encoding": true,
}

// maxKept bounds the memory that a message leaves with its connection, in bytes.
const maxKept = 64 << 10

// Keep returns what the next message of a connection is to be written into, after b was sent.
func Keep(b []byte) []byte {
	if cap(b) > maxKept {
		return nil
	}
	return b[:0]
}
