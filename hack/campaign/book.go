package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"time"

	"golang.org/x/sys/unix"

	"replab.dev/api/v1alpha1"
	rule "replab.dev/internal/compare"
	"replab.dev/internal/provenance"
	"replab.dev/internal/report/table"
	"replab.dev/internal/runs"
)

// record is what is written down of one run: a line of runs.jsonl.
type record struct {
	task
	Name string `json:"name"` // of the experiment
	// Error says why there is no status of a whole run: it was not accepted, or took too long.
	Error   string                                `json:"error,omitempty"`
	Faults  []v1alpha1.Fault                      `json:"faults,omitempty"` // as drawn
	Seconds int64                                 `json:"seconds"`          // that it took, with its removal
	Steps   []table.Step                          `json:"steps,omitempty"`
	Stages  []runs.Stage                          `json:"stages,omitempty"`
	Status  *v1alpha1.ReplicationExperimentStatus `json:"status,omitempty"`
	// Spec and Provenance are those of the results document.
	Spec       *v1alpha1.ReplicationExperimentSpec `json:"spec,omitempty"`
	Provenance *provenance.Provenance              `json:"provenance,omitempty"`
}

// run is what may be compared of it.
func (r record) run() rule.Run {
	made := rule.Run{}
	if r.Error == "" && r.Status != nil && r.Spec != nil && r.Provenance != nil {
		made = rule.Run{Spec: *r.Spec, Status: *r.Status, Provenance: *r.Provenance}
	}
	return made
}

// verdict of the run, and a word where it has none.
func (r record) verdict() string {
	if r.Error != "" || r.Status == nil {
		return "Error"
	}
	return string(r.Status.Verdict)
}

// charter is what makes a campaign this one: runs of another are not counted with its.
type charter struct {
	ID      string `json:"id"`      // by chance, of the folder: in the label and the names of its runs
	Name    string `json:"name"`    // of the subject
	Subject string `json:"subject"` // hash of what is applied
	Draw    draw   `json:"draw"`
	// Pairs is how many of them are compared, 0 where none are. It is fixed beforehand: whoever goes on until there is a difference finds one.
	Pairs int `json:"pairs,omitempty"`
}

func charterOf(s subject, o options) charter {
	c := charter{ID: fmt.Sprintf("%04x", rand.IntN(1<<16)), Name: s.name(), Subject: s.hash(), Draw: o.draw}
	if s.beside != nil {
		c.Pairs = o.count
	}
	return c
}

// book is the folder of a campaign: the runs, a line each, what they are of, and their results.
type book struct {
	charter
	dir  string
	runs []record
	file *os.File
}

// openBook goes on with what is in a folder, unless that is of another campaign.
func openBook(dir string, c charter) (*book, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make the campaign's folder: %w", err)
	}
	b := &book{charter: c, dir: dir}
	var err error
	if b.file, err = os.OpenFile(filepath.Join(dir, "runs.jsonl"), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o644); err != nil {
		return nil, err
	}
	if err := unix.Flock(int(b.file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("another campaign is writing to %s: wait for it, or choose another -out", dir), b.file.Close())
	}
	if err := errors.Join(b.load(), b.agree()); err != nil {
		return nil, errors.Join(err, b.file.Close())
	}
	return b, nil
}

// load reads the runs that were made. A last line that was not written whole is of a run that is made again.
func (b *book) load() error {
	lines := bufio.NewScanner(b.file)
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
		return fmt.Errorf("read %s: %w", b.file.Name(), err)
	}
	info, err := b.file.Stat()
	if err != nil || info.Size() <= whole {
		return err
	}
	return b.file.Truncate(whole)
}

const charterFile = "campaign.json"

// read returns the charter of a folder, nil where there is none.
func read(dir string) (*charter, error) {
	file := filepath.Join(dir, charterFile)
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var c charter
	if err := json.Unmarshal(text, &c); err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	return &c, nil
}

// seedOf the runs in a folder, one by chance where there are none.
func seedOf(dir string) int64 {
	if c, err := read(dir); err == nil && c != nil && c.Draw.Seed != 0 {
		return c.Draw.Seed
	}
	return 1 + time.Now().UnixNano()%1_000_000
}

// agree makes sure that all runs of a folder are of one campaign, and gives the book its identity.
func (b *book) agree() error {
	before, err := read(b.dir)
	if err != nil {
		return err
	}
	const instead = "go on with the same experiment and flags, or choose another -out"
	switch {
	case before == nil && len(b.runs) > 0:
		return fmt.Errorf("the %d runs in %s do not tell what they are of: choose another -out", len(b.runs), b.dir)
	case before == nil:
		text, err := json.Marshal(b.charter)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(b.dir, charterFile), text, 0o644)
	case before.Subject != b.Subject:
		return fmt.Errorf("the %d runs in %s are of %s as it was then: its file has another spec now; %s", len(b.runs), b.dir, before.Name, instead)
	case before.Pairs != b.Pairs:
		return fmt.Errorf("%s is of %d pairs, and how many are compared is fixed beforehand: use that -count, or choose another -out", b.dir, before.Pairs)
	case !reflect.DeepEqual(before.Draw, b.Draw):
		return fmt.Errorf("the %d runs in %s were made with %s, not %s: %s", len(b.runs), b.dir, before.Draw, b.Draw, instead)
	}
	b.ID = before.ID
	return nil
}

// opening says what is about to be made.
func (b *book) opening(o options) string {
	what := "runs"
	if o.beside != "" {
		what = "pairs of runs"
	}
	return fmt.Sprintf("Campaign %s: %d %s of %s, with %s. %d runs are made already. Written to %s; its experiments have the label %s=%s.",
		b.ID, o.count, what, b.Name, b.Draw, len(b.runs), b.dir, label, b.ID)
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
