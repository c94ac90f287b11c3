package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"replab.dev/api/v1alpha1"
)

// TestAFolderIsOfOneCampaign: of one experiment, made with the same flags.
func TestAFolderIsOfOneCampaign(t *testing.T) {
	dir := t.TempDir()
	s := subjectOf(t, options{file: semisync})
	d := draw{Rest: 15, Seed: 9}
	b, err := openBook(dir, charterOf(s, options{draw: d}))
	must(t, err)
	must(t, b.add(record{task: task{Number: 1}, Name: "a"}))
	if _, err := openBook(dir, charterOf(s, options{draw: d})); err == nil || !strings.Contains(err.Error(), "another campaign is writing") {
		t.Errorf("two write to one folder: %v", err)
	}
	b.close()
	if seedOf(dir) != 9 || seedOf(t.TempDir()) <= 0 {
		t.Errorf("seeds %d and %d", seedOf(dir), seedOf(t.TempDir()))
	}
	again, err := openBook(dir, charterOf(s, options{draw: d}))
	must(t, err)
	again.close()
	if again.ID != b.ID || len(again.runs) != 1 {
		t.Errorf("campaign %s with %d runs goes on as %s", b.ID, len(again.runs), again.ID)
	}
	for name, c := range map[string]charter{
		"another experiment":  charterOf(subjectOf(t, options{file: single}), options{draw: d}),
		"another seed":        charterOf(s, options{draw: draw{Rest: 15, Seed: 10}}),
		"faults that differ":  charterOf(s, options{draw: draw{Actions: []v1alpha1.FaultAction{v1alpha1.ActionKill}, Members: []int{1}, Faults: 1, Rest: 15, Seed: 9}}),
		"a partner":           charterOf(subjectOf(t, options{file: semisync, beside: single}), options{draw: d}),
		"nothing of the sort": {},
	} {
		if _, err := openBook(dir, c); err == nil || !strings.Contains(err.Error(), "choose another -out") {
			t.Errorf("%s: %v", name, err)
		}
	}
	compared, o := t.TempDir(), options{file: semisync, beside: single, count: 6, draw: d}
	b, err = openBook(compared, charterOf(subjectOf(t, o), o))
	must(t, err)
	b.close()
	o.count = 7
	if _, err := openBook(compared, charterOf(subjectOf(t, o), o)); err == nil || !strings.Contains(err.Error(), "is of 6 pairs") {
		t.Errorf("pairs are added to those that were looked at: %v", err)
	}
	must(t, os.Remove(filepath.Join(dir, charterFile)))
	if _, err := openBook(dir, charterOf(s, options{draw: d})); err == nil {
		t.Error("runs of nobody knows what are gone on with")
	}
}

func TestARunThatWasNotWrittenDownWholeIsMadeAgain(t *testing.T) {
	dir := t.TempDir()
	c := charterOf(subjectOf(t, options{file: semisync}), options{})
	b, err := openBook(dir, c)
	must(t, err)
	must(t, b.add(record{task: task{Number: 1}, Name: "a"}))
	_, err = b.file.WriteString("{\"number\":2,\"na")
	must(t, err)
	b.close()
	b, err = openBook(dir, c)
	must(t, err)
	must(t, b.add(record{task: task{Number: 2}, Name: "b"}))
	b.close()
	b, err = openBook(dir, c)
	must(t, err)
	defer b.close()
	if len(b.runs) != 2 || b.runs[1].Name != "b" || b.runs[1].Number != 2 {
		t.Errorf("runs are %+v", b.runs)
	}
}

func TestNamesOfRunsFit(t *testing.T) {
	long := strings.Repeat("a", 33) + "-bc"
	if got := named(long, "7f3a", task{Number: 12}); len(got) > maxName || !regexp.MustCompile(`^a{32}-7f3a-12$`).MatchString(got) {
		t.Errorf("name %q", got)
	}
	if got := named("single", "7f3a", task{Number: 3, Beside: true}); got != "single-7f3a-3b" {
		t.Errorf("name %q", got)
	}
}
