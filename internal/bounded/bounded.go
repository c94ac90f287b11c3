// Package bounded decodes JSON that somebody hostile may have written, within a budget of memory.
package bounded

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// What Go needs beside a document's text, in bytes: about as much as the largest of replab's types, and as an entry of a map.
const (
	objectBytes = 512
	valueBytes  = 64
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
}

func (m *meter) Write(text []byte) (int, error) {
	m.left -= int64(len(text))
	for _, c := range text {
		switch {
		case m.escaped:
			m.escaped = false
		case m.quoted && c == '\\':
			m.escaped = true
		case c == '"':
			m.quoted = !m.quoted
		case m.quoted:
		case c == '{':
			m.left -= objectBytes
		case c == ',' || c == '[':
			m.left -= valueBytes
		}
		if m.left < 0 {
			return 0, ErrTooLarge
		}
	}
	return len(text), nil
}
