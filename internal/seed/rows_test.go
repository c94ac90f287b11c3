package seed

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"replab.dev/internal/dataset"
)

func TestAppendRow(t *testing.T) {
	u := dataset.User{FirstName: "Зоя", LastName: "a\tb\nc\\d\x00e", Birthdate: "1990-01-02", Biography: "О'Нил", City: "Орёл"}
	want := "7\tЗоя\ta\\tb\\nc\\\\d\\0e\t1990-01-02\tО'Нил\tОрёл\n"
	if got := string(appendRow(nil, 7, u)); got != want {
		t.Fatalf("row is %q, want %q", got, want)
	}
}

func TestChunksHoldTheirRows(t *testing.T) {
	d, err := dataset.New(1, "ru")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name               string
		first, last, chunk int64
		want               []string // first and last id of each chunk
	}{
		{"one chunk that is not full", 1, 7, 10, []string{"1-7"}},
		{"a last chunk that is exactly full", 1, 20, 10, []string{"1-10", "11-20"}},
		{"a last chunk of one row", 1, 21, 10, []string{"1-10", "11-20", "21-21"}},
		{"a start in the middle", 14, 30, 10, []string{"14-23", "24-30"}},
		{"chunks of many blocks", 1, 12_000, 5_000, []string{"1-5000", "5001-10000", "10001-12000"}},
		{"nothing left", 11, 10, 10, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			blocks := produce(t.Context(), d, c.first, c.last, c.chunk)
			next := c.first
			for _, want := range c.want {
				text, err := io.ReadAll(&chunkReader{blocks: blocks})
				if err != nil {
					t.Fatal(err)
				}
				first := next
				for line := range strings.Lines(string(text)) {
					if line != string(appendRow(nil, next, d.User(next))) {
						t.Fatalf("row %d is %q", next, line)
					}
					next++
				}
				if got := fmt.Sprintf("%d-%d", first, next-1); got != want {
					t.Fatalf("chunk holds %s, want %s", got, want)
				}
			}
			if _, err := (&chunkReader{blocks: blocks}).Read(make([]byte, 1)); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("after the last chunk: %v", err)
			}
		})
	}
}

// A chunk that is cut off must not look complete: it would be committed with rows missing.
func TestChunkThatIsCutOffIsAnError(t *testing.T) {
	blocks := make(chan block, 1)
	blocks <- block{text: []byte("1\tx\n")}
	close(blocks)
	if _, err := io.ReadAll(&chunkReader{blocks: blocks}); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatalf("error is %v", err)
	}
}

func TestProgressCountsWhatThisRunLoaded(t *testing.T) {
	start := time.Unix(1000, 0)
	var p progress
	p.begin(1_000, start)
	p.resume(200, start)
	p.resume(600, start.Add(time.Second)) // a second attempt
	rate, remaining := p.rate(600, start.Add(4*time.Second))
	if rate != 100 || remaining != 4*time.Second {
		t.Fatalf("%d users/s, %s remain; want 100 and 4s", rate, remaining)
	}
	if rate, remaining = p.rate(200, start); rate != 0 || remaining != 0 {
		t.Fatalf("before the first chunk: %d, %s", rate, remaining)
	}
}
