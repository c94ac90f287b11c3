package ledger

import (
	"fmt"
	"io"
)

// WriteTo writes the set as a 64-bit roaring bitmap in its portable form.
func (b Bitmap) WriteTo(w io.Writer) (int64, error) { return b.ids.WriteTo(w) }

// ReadBitmap reads what WriteTo has written, to the end. What is cut short, or has more behind it, is an error.
func ReadBitmap(r io.Reader) (Bitmap, error) {
	var b Bitmap
	if _, err := b.ids.ReadFrom(r); err != nil {
		return Bitmap{}, fmt.Errorf("read a set of ids: %w", err)
	}
	var more [1]byte
	if n, err := io.ReadFull(r, more[:]); n > 0 || err != io.EOF {
		return Bitmap{}, fmt.Errorf("read a set of ids: more follows than one set")
	}
	return b, nil
}
