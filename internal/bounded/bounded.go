// Package bounded decodes JSON that somebody hostile may have written, within a budget of memory.
package bounded

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// Memory that a document may need, in bytes. It exists up to three times: as read, decoded, and encoded again.
const (
	textBytes    = 3   // for each byte of text
	escapedBytes = 16  // for each byte of a string that Go may write as a longer one
	objectBytes  = 512 // for each object: about as much as the largest of replab's types, while the slice that holds it grows
	valueBytes   = 64  // for each other value
	// manyValues of one array or object may be elements of a slice of structs, or entries of a map, whatever they look like: further ones take
	// as much as objects.
	manyValues = 64
)

// ErrTooLarge is the error of documents that need more memory than they may.
var ErrTooLarge = errors.New("document too large")

// Unmarshal decodes text into v. It returns ErrTooLarge if that may take more than most bytes of memory.
func Unmarshal(text []byte, v any, most int64) error {
	if _, err := (&meter{left: most}).Write(text); err != nil {
		return err
	}
	return json.Unmarshal(text, v)
}

// UnmarshalGzip decodes a compressed document into v. It returns ErrTooLarge if that may take more than most bytes of memory.
//
// It unpacks the document twice: the first time it only measures, so that nothing is kept of one that is too large.
func UnmarshalGzip(packed []byte, v any, most int64) error {
	size, err := unpack(&meter{left: most}, packed)
	if err != nil {
		return err
	}
	text := bytes.NewBuffer(make([]byte, 0, size))
	if _, err := unpack(text, packed); err != nil {
		return err
	}
	return json.Unmarshal(text.Bytes(), v)
}

func unpack(to io.Writer, packed []byte) (int64, error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return 0, fmt.Errorf("unpack: %w", err)
	}
	size, err := io.Copy(to, z)
	if err != nil {
		return 0, fmt.Errorf("unpack: %w", err)
	}
	return size, nil
}

// meter estimates the memory that a JSON text needs once it is decoded, and fails when nothing is left.
type meter struct {
	left            int64
	quoted, escaped bool
	values          []int // of each object and array that is not closed, innermost last: its values until now
}

func (m *meter) Write(text []byte) (int, error) {
	for _, c := range text {
		if m.quoted {
			m.left -= m.quotedByte(c)
		} else {
			m.left -= textBytes + m.token(c)
		}
		if m.left < 0 {
			return 0, ErrTooLarge
		}
	}
	return len(text), nil
}

// quotedByte is what a byte within a string needs.
func (m *meter) quotedByte(c byte) int64 {
	switch {
	case m.escaped:
		m.escaped = false
	case c == '\\':
		m.escaped = true
	case c == '"':
		m.quoted = false
	case c == '<' || c == '>' || c == '&' || c >= utf8.RuneSelf:
		return escapedBytes
	}
	return textBytes
}

// token is what a byte outside strings needs beside its text.
func (m *meter) token(c byte) (need int64) {
	last := len(m.values) - 1
	if c == ',' && last >= 0 {
		m.values[last]++
	}
	many := last >= 0 && m.values[last] > manyValues
	switch c {
	case '"':
		m.quoted = true
	case '{', '[':
		m.values = append(m.values, 1)
		if c == '[' {
			need = valueBytes
		} else if !many { // whose comma has not paid for it
			need = objectBytes
		}
	case ',':
		if need = valueBytes; many {
			need = objectBytes
		}
	case ']', '}':
		if last >= 0 {
			m.values = m.values[:last]
		}
	}
	return need
}
