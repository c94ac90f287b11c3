package results

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/bounded"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/wire"
)

// peakMost is what a hostile document may cost a process in resident memory. The operator's limit is 128 MiB, and it needs about 30 itself.
const peakMost = 90 << 20

// bombs are documents of a few bytes that unpack to about size bytes.
var bombs = map[string]func(w io.Writer, size int){
	"zeros":                func(w io.Writer, size int) { repeat(w, "\x00", size) },
	"spaces":               func(w io.Writer, size int) { wrap(w, `{`, " ", size, `}`) },
	"long string":          func(w io.Writer, size int) { wrap(w, `{"incomplete":"`, "a", size, `"}`) },
	"escaped when written": func(w io.Writer, size int) { wrap(w, `{"incomplete":"`, "<", size, `"}`) },
	"not UTF-8":            func(w io.Writer, size int) { wrap(w, `{"incomplete":"`, "\xff", size, `"}`) },
	"empty stages":         func(w io.Writer, size int) { wrap(w, `{"stages":[{}`, ",{}", size, `]}`) },
	"numbers for stages":   func(w io.Writer, size int) { wrap(w, `{"stages":[0`, ",0", size, `]}`) },
	"nulls for stages":     func(w io.Writer, size int) { wrap(w, `{"stages":[null`, ",null", size, `]}`) },
	"strings for nodes":    func(w io.Writer, size int) { wrap(w, `{"lag":{"nodes":[""`, `,""`, size, `]}}`) },
	"empty timeline":       func(w io.Writer, size int) { wrap(w, `{"timeline":[{}`, ",{}", size, `]}`) },
	"operations": func(w io.Writer, size int) {
		wrap(w, `{"stages":[{"operations":[{"latency":{}}`, `,{"latency":{}}`, size, `]}]}`)
	},
	"histogram": func(w io.Writer, size int) {
		wrap(w, `{"load":{"histogram":[{}`, ",{}", size, `]}}`)
	},
	"filled histogram": func(w io.Writer, size int) {
		const bucket = `{"fromMicroseconds":1,"toMicroseconds":2,"count":3}`
		wrap(w, `{"load":{"histogram":[`+bucket, ","+bucket, size, `]}}`)
	},
	"writers":        func(w io.Writer, size int) { wrap(w, `{"writers":[""`, `,""`, size, `]}`) },
	"lags":           func(w io.Writer, size int) { wrap(w, `{"timeline":[{"lagMicroseconds":[1`, ",1", size, `]}]}`) },
	"nested arrays":  func(w io.Writer, size int) { repeat(w, "[", size) },
	"nested objects": func(w io.Writer, size int) { repeat(w, `{"load":`, size) },
	"keys": func(w io.Writer, size int) {
		_, _ = io.WriteString(w, `{"rejections":{"":1`)
		var entry []byte
		for i := 0; i < size; i += len(entry) {
			entry = append(strconv.AppendInt(append(entry[:0], `,"`...), int64(i), 36), `":1`...)
			_, _ = w.Write(entry)
		}
		_, _ = io.WriteString(w, `}}`)
	},
}

func repeat(w io.Writer, text string, size int) {
	chunk := bytes.Repeat([]byte(text), (16<<10)/len(text))
	for ; size > 0; size -= len(chunk) {
		_, _ = w.Write(chunk)
	}
}

func wrap(w io.Writer, before, text string, size int, after string) {
	_, _ = io.WriteString(w, before)
	repeat(w, text, size)
	_, _ = io.WriteString(w, after)
}

// bombed is the environment variable that names the bomb for the child process.
const bombed = "REPLAB_TEST_BOMB"

// TestHostileDocumentsTakeLittleMemory unpacks each bomb in a process of its own, under the operator's memory limit: smaller and smaller
// ones until one fits. It writes a results document of that, as the operator does.
func TestHostileDocumentsTakeLittleMemory(t *testing.T) {
	if name := os.Getenv(bombed); name != "" {
		explode(name)
	}
	for name := range bombs {
		t.Run(name, func(t *testing.T) {
			child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHostileDocumentsTakeLittleMemory$")
			child.Env = append(os.Environ(), bombed+"="+name, "GOMEMLIMIT=115MiB", "GOGC=100")
			out, err := child.CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %.500s", err, out)
			}
			t.Logf("%.200s", out)
			peak, err := strconv.Atoi(strings.Fields(string(out))[0])
			if err != nil || peak > peakMost {
				t.Errorf("the process took %d MiB, want at most %d: %v", peak>>20, peakMost>>20, err)
			}
		})
	}
}

// explode ends the process after it has told how much memory the bomb took.
func explode(name string) {
	size := 32 << 20
	if name == "zeros" {
		size = 256 << 20
	}
	err := unpackBomb(name, size)
	for ; errors.Is(err, bounded.ErrTooLarge) && size > 32<<10; size = size * 2 / 3 {
		err = unpackBomb(name, size)
	}
	fmt.Println(peakMemory(), size, err)
	os.Exit(0)
}

func unpackBomb(name string, size int) error {
	var packed bytes.Buffer
	z, _ := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	bombs[name](z, size)
	_ = z.Close()
	var results wire.RecorderResults
	if err := Unpack(packed.Bytes(), &results); err != nil {
		return err
	}
	_, err := Document(&v1alpha1.ReplicationExperiment{}, evidence.Run{Recorder: &results})
	return err
}

// peakMemory is the most resident memory that this process had, in bytes.
func peakMemory() int {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		panic(err)
	}
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); fields[0] == "VmHWM:" {
			kib, _ := strconv.Atoi(fields[1])
			return kib << 10
		}
	}
	panic("no VmHWM")
}

// TestTheLargestDocumentsFitTheirLimit: an instrument's longest timeline, with as much of everything as there may be.
func TestTheLargestDocumentsFitTheirLimit(t *testing.T) {
	_, e := sweep(450) // 7200 s: the longest timeline
	text, err := json.Marshal(e.Recorder)
	if err != nil {
		t.Fatal(err)
	}
	packed, err := pack(text)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d KiB, %d KiB compressed", len(text)>>10, len(packed)>>10)
	var read wire.RecorderResults
	if err := Unpack(packed, &read); err != nil || len(read.Timeline) != 7200 || len(read.StaleUsers) != wire.MaxStaleUsers {
		t.Errorf("%d seconds, %d users, %v", len(read.Timeline), len(read.StaleUsers), err)
	}
}
