package inspect

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"k8s.io/utils/ptr"

	"replab.dev/internal/wire"
)

func TestWhatWasReadIsKeptAndTold(t *testing.T) {
	f := newFolders(t)
	f.ask(t, Request{Inspection: wire.Inspection{ID: "17"}, Socket: "s"})
	i := f.inspector(t, fakeRows{ids: []uint64{3, 5, 900000}, seeded: 4})
	if done, _ := Answered(f.holds, "17"); done {
		t.Fatal("answered before anything was read")
	}
	if err := i.look(context.Background()); err != nil {
		t.Fatal(err)
	}
	if done, err := Answered(f.holds, "17"); !done || err != nil {
		t.Errorf("answered: %t, %v", done, err)
	}
	f.ask(t, Request{Inspection: wire.Inspection{ID: "17", Milliseconds: 1234}, Final: true})
	i = f.inspector(t, fakeRows{}) // as an agent that is started anew
	if err := i.look(context.Background()); err != nil {
		t.Fatal(err)
	}
	all := i.All().Inspections
	if len(all) != 1 || *all[0].Rows != 7 || *all[0].WriteIDs != 3 || all[0].Position != "position" || all[0].Milliseconds != 1234 || all[0].Error != "" {
		t.Fatalf("kept %+v", all)
	}
	if ids := idsOf(t, i); ids.Count() != 3 || !ids.Has(900000) {
		t.Errorf("ids %v", ids.First(5))
	}
}

// TestNoInspectionIsForgotten: one file has what each of them found, and only what was read to its end.
func TestNoInspectionIsForgotten(t *testing.T) {
	f := newFolders(t)
	for id, rows := range []fakeRows{{ids: []uint64{3, 5}}, {ids: []uint64{3, 7}}, {ids: []uint64{8}, err: errors.New("broken")}, {ids: []uint64{3}}} {
		i := f.inspector(t, rows)
		f.ask(t, Request{Inspection: wire.Inspection{ID: strconv.Itoa(id)}, Socket: "s"})
		if err := i.look(context.Background()); (err == nil) != (rows.err == nil) {
			t.Fatal(err)
		}
	}
	i := f.inspector(t, fakeRows{})
	if ids := idsOf(t, i); ids.Count() != 3 || !ids.Has(5) || !ids.Has(7) || ids.Has(8) || len(i.All().Inspections) != 3 {
		t.Errorf("ids %v of %+v", ids.First(5), i.All())
	}
	if files, err := os.ReadDir(filepath.Join(f.state, "inspections")); err != nil || len(files) != 2 {
		t.Errorf("files %v, %v: want the list and the ids", files, err)
	}
}

// TestAFailureOutlivesTheStartsAfterIt: the agent was away while the node was started, twice, and with the last of these all was well.
func TestAFailureOutlivesTheStartsAfterIt(t *testing.T) {
	f, volume := newFolders(t), t.TempDir()
	start := func(i wire.Inspection) {
		t.Helper()
		earlier, err := Unkept(volume, f.holds)
		if err != nil {
			t.Fatal(err)
		}
		if err := NoteStarts(volume, append(earlier, i)); err != nil {
			t.Fatal(err)
		}
		f.ask(t, Request{Inspection: i, Earlier: earlier, Final: true})
	}
	start(wire.Inspection{ID: "17", Error: "not within a minute"})
	start(wire.Inspection{ID: "18", Error: "not within a minute"})
	f.run = t.TempDir() // another pod
	start(wire.Inspection{ID: "19", Unfinished: true})
	i := f.inspector(t, fakeRows{})
	for range 2 {
		if err := i.look(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	if all := i.All().Inspections; len(all) != 3 || all[0].ID != "17" || all[0].Error == "" || all[1].Error == "" || !all[2].Unfinished {
		t.Errorf("kept %+v", all)
	}
	if left, err := Unkept(volume, f.holds); err != nil || len(left) != 0 {
		t.Errorf("not kept, by what the wrapper knows: %+v, %v", left, err)
	}
	start(wire.Inspection{ID: "20"})
	if err := i.look(context.Background()); err != nil {
		t.Fatal(err)
	}
	if all := i.All().Inspections; len(all) != 4 || all[3].Error == "" {
		t.Errorf("a start of which nothing was read counts as inspected: %+v", all)
	}
}

func TestTheFirstOfManyStartsStays(t *testing.T) {
	volume := t.TempDir()
	var all []wire.Inspection
	for n := range 3 * startsMost {
		all = append(all, wire.Inspection{ID: strconv.Itoa(n), Error: "not within a minute"})
		if err := NoteStarts(volume, all); err != nil {
			t.Fatal(err)
		}
		var err error
		if all, err = Unkept(volume, t.TempDir()); err != nil {
			t.Fatal(err)
		}
	}
	if len(all) != startsMost || all[0].ID != "0" || all[startsMost-1].ID != strconv.Itoa(3*startsMost-1) {
		t.Errorf("%d starts from %s to %s", len(all), all[0].ID, all[len(all)-1].ID)
	}
}

func TestWhatWasNotReadIsUnknownAndSaysWhy(t *testing.T) {
	f := newFolders(t)
	i := f.inspector(t, fakeRows{ids: []uint64{3}, err: errors.New("broken")})
	f.ask(t, Request{Inspection: wire.Inspection{ID: "17"}, Socket: "s"})
	if err := i.look(context.Background()); err == nil {
		t.Fatal("rows that could not be read were taken for all")
	}
	if len(i.All().Inspections) != 0 {
		t.Fatalf("kept %+v, and the wrapper still waits", i.All())
	}
	f.ask(t, Request{Inspection: wire.Inspection{ID: "17", Error: "not within a minute"}, Final: true})
	if err := i.look(context.Background()); err != nil {
		t.Fatal(err)
	}
	if all := i.All().Inspections; len(all) != 1 || all[0].Rows != nil || all[0].Error == "" {
		t.Errorf("kept %+v", all)
	}
	if _, err := i.IDs(); !errors.Is(err, ErrUnknown) {
		t.Errorf("ids of an inspection that read none: %v", err)
	}
}

// The wrapper gave up, and its server joined the others, while the agent was still reading.
func TestRowsThatCameTooLateDoNotCount(t *testing.T) {
	f := newFolders(t)
	f.ask(t, Request{Inspection: wire.Inspection{ID: "17"}, Socket: "s"})
	i := f.inspector(t, fakeRows{ids: []uint64{3}, then: func() {
		f.ask(t, Request{Inspection: wire.Inspection{ID: "17", Error: "not within a minute"}, Final: true})
	}})
	if err := i.look(context.Background()); err == nil {
		t.Error("rows that were read too late were kept")
	}
	if err := i.look(context.Background()); err != nil {
		t.Fatal(err)
	}
	if all := i.All().Inspections; len(all) != 1 || all[0].Rows != nil || all[0].Error == "" {
		t.Errorf("kept %+v", all)
	}
}

func TestWhatTheLogHeldIsKeptBesideTheRows(t *testing.T) {
	f := newFolders(t)
	i := f.inspector(t, fakeRows{ids: []uint64{3, 5}})
	f.ask(t, Request{Inspection: wire.Inspection{ID: "17"}, Socket: "s"})
	if err := i.look(context.Background()); err != nil {
		t.Fatal(err)
	}
	final := Request{Inspection: wire.Inspection{ID: "17", WAL: &wire.WALInspection{UserCommits: 2}}, Final: true}
	f.ask(t, final)
	for range 2 {
		if err := i.look(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	if all := i.All().Inspections; len(all) != 1 || *all[0].WriteIDs != 2 || all[0].WAL == nil || all[0].WAL.UserCommits != 2 {
		t.Errorf("kept %+v", all)
	}

	// The rows could not be read, the log could.
	final.ID, final.Error = "18", "not within a minute"
	f.ask(t, final)
	if err := i.look(context.Background()); err != nil {
		t.Fatal(err)
	}
	if all := i.All().Inspections; len(all) != 2 || all[1].Rows != nil || all[1].WAL == nil || all[1].Error == "" {
		t.Errorf("kept %+v", all)
	}
}

func TestDataThatStayAsTheyAreNeedNotBeRead(t *testing.T) {
	f := newFolders(t)
	i := f.inspector(t, fakeRows{ids: []uint64{3}})
	f.ask(t, Request{Inspection: wire.Inspection{ID: "17", Intact: true}, Final: true})
	if err := i.look(context.Background()); err != nil {
		t.Fatal(err)
	}
	// One that was read, and of which nothing was taken then.
	f.ask(t, Request{Inspection: wire.Inspection{ID: "18"}, Socket: "s"})
	if err := i.look(context.Background()); err != nil {
		t.Fatal(err)
	}
	f.ask(t, Request{Inspection: wire.Inspection{ID: "18", Intact: true}, Final: true})
	if err := i.look(context.Background()); err != nil {
		t.Fatal(err)
	}
	all := i.All().Inspections
	if len(all) != 2 || !all[0].Intact || all[0].Error != "" || !all[1].Intact || all[1].Rows == nil {
		t.Errorf("kept %+v", all)
	}
}

func TestANewNodeIsNotedAsOne(t *testing.T) {
	f := newFolders(t)
	i := f.inspector(t, fakeRows{})
	f.ask(t, Request{Inspection: wire.Inspection{ID: "17", Fresh: true}, Final: true})
	for range 2 {
		if err := i.look(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	if all := i.All().Inspections; len(all) != 1 || !all[0].Fresh || all[0].Rows != nil || ptr.Deref(all[0].WriteIDs, 0) != 0 {
		t.Errorf("kept %+v", all)
	}
}

func TestAnIDIsANumber(t *testing.T) {
	f := newFolders(t)
	f.ask(t, Request{Inspection: wire.Inspection{ID: "17"}, Earlier: []wire.Inspection{{ID: "../lease"}}, Final: true})
	i := f.inspector(t, fakeRows{})
	if err := i.look(context.Background()); err == nil || len(i.All().Inspections) != 0 {
		t.Errorf("an id that is none was kept: %+v", i.All())
	}
}
