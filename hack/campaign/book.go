package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"time"

	"replab.dev/api/v1alpha1"
)

// record is what is written down of one run: a line of runs.jsonl.
type record struct {
	Number int    `json:"number"`
	Name   string `json:"name"` // of the experiment
	// Error says why there is no status of a whole run: it was not accepted, or took too long.
	Error  string                                `json:"error,omitempty"`
	Faults []v1alpha1.Fault                      `json:"faults,omitempty"` // as drawn
	Status *v1alpha1.ReplicationExperimentStatus `json:"status,omitempty"`
}

// verdict of the run, and a word where it has none.
func (r record) verdict() string {
	if r.Error != "" || r.Status == nil {
		return "Error"
	}
	return string(r.Status.Verdict)
}

// book is the folder of a campaign: the runs, a line each, and what was drawn from.
type book struct {
	dir  string
	runs []record
	file *os.File
}

// openBook goes on with what is in a folder, unless that was drawn otherwise.
func openBook(dir string, d draw) (*book, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make the campaign's folder: %w", err)
	}
	b := &book{dir: dir}
	if err := b.load(); err != nil {
		return nil, err
	}
	if err := b.agree(d); err != nil {
		return nil, err
	}
	var err error
	b.file, err = os.OpenFile(filepath.Join(dir, "runs.jsonl"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	return b, err
}

// load reads the runs that were made. A last line that was not written whole is of a run that is made again.
func (b *book) load() error {
	f, err := os.Open(filepath.Join(b.dir, "runs.jsonl"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	whole := int64(0)
	for lines.Scan() {
		var r record
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			break
		}
		b.runs = append(b.runs, r)
		whole += int64(len(lines.Bytes())) + 1
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read %s: %w", f.Name(), err)
	}
	info, err := f.Stat()
	if err != nil || info.Size() <= whole {
		return err
	}
	return os.Truncate(f.Name(), whole)
}

// seedOf the runs in a folder, one by chance where there are none.
func seedOf(dir string) int64 {
	var d draw
	if text, err := os.ReadFile(filepath.Join(dir, drawFile)); err == nil && json.Unmarshal(text, &d) == nil && d.Seed != 0 {
		return d.Seed
	}
	return 1 + time.Now().UnixNano()%1_000_000
}

const drawFile = "draw.json"

// agree makes sure that all runs of a folder are drawn alike.
func (b *book) agree(d draw) error {
	file := filepath.Join(b.dir, drawFile)
	text, err := os.ReadFile(file)
	if err == nil && len(b.runs) > 0 {
		var before draw
		if err := json.Unmarshal(text, &before); err != nil {
			return fmt.Errorf("read %s: %w", file, err)
		}
		if !reflect.DeepEqual(before, d) {
			return fmt.Errorf("the %d runs in %s were drawn with -seed %d from %s: go on with these, or choose another -out", len(b.runs), b.dir, before.Seed, before)
		}
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if text, err = json.Marshal(d); err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}

// add writes a run down.
func (b *book) add(r record) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if _, err := b.file.Write(append(text, '\n')); err != nil {
		return fmt.Errorf("write the run down: %w", err)
	}
	b.runs = append(b.runs, r)
	return b.file.Sync()
}

func (b *book) close() { _ = b.file.Close() } // each run is synced

// keep writes the evidence of a run beside the others: a file of this name.
func (b *book) keep(name string, content []byte) error {
	return os.WriteFile(filepath.Join(b.dir, name), content, 0o644)
}
