package results

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/wire"
)

// peakMost is what a hostile document may cost a process in resident memory. The operator's limit is 128 MiB, and it needs about 30 itself.
const peakMost = 90 << 20

// bombs are documents of a few bytes that unpack to many.
var bombs = map[string]func(w io.Writer){
	"zeros":          func(w io.Writer) { repeat(w, "\x00", 256<<20) },
	"spaces":         func(w io.Writer) { repeat(w, " ", 256<<20) },
	"long string":    func(w io.Writer) { wrap(w, `{"incomplete":"`, "a", 256<<20, `"}`) },
	"empty stages":   func(w io.Writer) { wrap(w, `{"stages":[{}`, ",{}", 3<<20, `]}`) },
	"few stages":     func(w io.Writer) { wrap(w, `{"stages":[{}`, ",{}", 170_000, `]}`) },
	"short timeline": func(w io.Writer) { wrap(w, `{"timeline":[{}`, ",{}", 170_000, `]}`) },
	"operations": func(w io.Writer) {
		wrap(w, `{"stages":[{"operations":[{"latency":{}}`, `,{"latency":{}}`, 400_000, `]}]}`)
	},
	"writers":        func(w io.Writer) { wrap(w, `{"writers":[""`, `,""`, 1_900_000, `]}`) },
	"lags":           func(w io.Writer) { wrap(w, `{"timeline":[{"lagMicroseconds":[1`, ",1", 1_300_000, `]}]}`) },
	"nested arrays":  func(w io.Writer) { repeat(w, "[", 60<<20) },
	"nested objects": func(w io.Writer) { repeat(w, `{"load":`, 60<<20) },
	"keys": func(w io.Writer) {
		_, _ = io.WriteString(w, `{"rejections":{"":1`)
		for i := range 350_000 {
			fmt.Fprintf(w, `,"%x":1`, i)
		}
		_, _ = io.WriteString(w, `}}`)
	},
}

func repeat(w io.Writer, text string, size int) {
	chunk := bytes.Repeat([]byte(text), max(1, (64<<10)/len(text)))
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

// TestHostileDocumentsTakeLittleMemory unpacks each bomb in a process of its own, under the operator's memory limit, and writes a results document
// of what came out, as the operator does.
func TestHostileDocumentsTakeLittleMemory(t *testing.T) {
	if name := os.Getenv(bombed); name != "" {
		explode(name)
	}
	for name := range bombs {
		t.Run(name, func(t *testing.T) {
			child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHostileDocumentsTakeLittleMemory$")
			child.Env = append(os.Environ(), bombed+"="+name, "GOMEMLIMIT=115MiB")
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
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	bombs[name](z)
	_ = z.Close()
	var results wire.RecorderResults
	err := Unpack(packed.Bytes(), &results)
	if err == nil {
		_, err = Document(&v1alpha1.ReplicationExperiment{}, evidence.Run{Recorder: &results})
	}
	fmt.Println(peakMemory(), packed.Len(), err)
	os.Exit(0)
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
