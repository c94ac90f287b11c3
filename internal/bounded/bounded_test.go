package bounded

import (
	"bytes"
	"compress/gzip"
	"errors"
	"strings"
	"testing"
)

func packed(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestDocumentsTakeWhatTheyAreMadeOf(t *testing.T) {
	for text, want := range map[string]int64{
		`"a"`:               3 * textBytes,
		`"<é"`:              2*textBytes + 3*escapedBytes,
		`{"a":1}`:           7*textBytes + objectBytes,
		`{"a":1,"b":2}`:     13*textBytes + objectBytes + valueBytes,
		`[1,2,3]`:           7*textBytes + 3*valueBytes,
		`["{,[","\",[{\\"]`: 17*textBytes + 2*valueBytes, // what is quoted is text

		// Past the 64th each value of an array or object takes as much as an object, which takes no more.
		`[0` + strings.Repeat(",0", 100) + `]`:             203*textBytes + 64*valueBytes + 37*objectBytes,
		`[{}` + strings.Repeat(",{}", 100) + `]`:           304*textBytes + 64*valueBytes + 101*objectBytes,
		`{"a":0` + strings.Repeat(`,"a":[0]`, 100) + `}`:   807*textBytes + 163*valueBytes + 38*objectBytes,
		`[[0` + strings.Repeat(",0", 60) + `]` + `,0,0,0]`: 131*textBytes + 65*valueBytes,
	} {
		for most, fits := range map[int64]bool{want: true, want - 1: false} {
			var v any
			if err := Unmarshal([]byte(text), &v, most); errors.Is(err, ErrTooLarge) == fits || fits && (err != nil || v == nil) {
				t.Errorf("%s in %d bytes: %v", text, most, err)
			}
			v = nil
			if err := UnmarshalGzip(packed(t, text), &v, most); errors.Is(err, ErrTooLarge) == fits || fits && (err != nil || v == nil) {
				t.Errorf("%s compressed, in %d bytes: %v", text, most, err)
			}
		}
	}
}

func TestWhatIsNoDocumentIsRefused(t *testing.T) {
	whole := packed(t, `{"a":1}`)
	for name, text := range map[string][]byte{"nothing": nil, "plain": []byte("{}"), "torn": whole[:len(whole)-3], "two": packed(t, "{}{}")} {
		var v any
		if err := UnmarshalGzip(text, &v, 1<<20); err == nil || errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var v any
	if err := Unmarshal([]byte(strings.Repeat("[", 20_000)), &v, 1<<20); err == nil {
		t.Error("brackets that never close are read")
	}
}
