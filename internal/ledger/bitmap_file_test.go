package ledger

import (
	"bytes"
	"testing"
)

func TestBitmapIsReadAsItWasWritten(t *testing.T) {
	var b Bitmap
	for _, id := range edges {
		b.Add(id)
	}
	b.AddRange(1000, 200000)
	for name, set := range map[string]Bitmap{"full": b, "empty": {}} {
		var file bytes.Buffer
		if _, err := set.WriteTo(&file); err != nil {
			t.Fatal(err)
		}
		got, err := ReadBitmap(bytes.NewReader(file.Bytes()))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got.Count() != set.Count() || AndNot(got, set).Count() != 0 {
			t.Errorf("%s: read %d ids, want %d", name, got.Count(), set.Count())
		}
	}
}

func TestBitmapIsNotReadInPart(t *testing.T) {
	var b Bitmap
	for _, id := range edges {
		b.Add(id)
	}
	var file bytes.Buffer
	if _, err := b.WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	whole := file.Bytes()
	for n := range whole {
		if _, err := ReadBitmap(bytes.NewReader(whole[:n])); err == nil {
			t.Fatalf("%d of %d bytes were taken for a whole set", n, len(whole))
		}
	}
	if _, err := ReadBitmap(bytes.NewReader(append(whole, 0))); err == nil {
		t.Error("a set with a byte behind it was taken for a whole one")
	}
}
