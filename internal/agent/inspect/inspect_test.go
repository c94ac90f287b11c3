package inspect

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"k8s.io/utils/ptr"

	"replab.dev/internal/engine"
	"replab.dev/internal/ledger"
	"replab.dev/internal/wire"
)

// fakeRows is a server with these write ids, and some rows without one.
type fakeRows struct {
	ids    []uint64
	seeded int
	err    error
	then   func() // after the ids were read
}

func (f fakeRows) Count(context.Context, string) (int64, error) {
	return int64(len(f.ids) + f.seeded), nil
}

func (f fakeRows) IDs(_ context.Context, table, column string, visit func(uint64, bool) error) error {
	if table != wire.UsersTable || column != "write_id" {
		return errors.New("other rows were asked for")
	}
	for _, id := range f.ids {
		if err := visit(id, false); err != nil {
			return err
		}
	}
	for range f.seeded {
		if err := visit(0, true); err != nil {
			return err
		}
	}
	if f.then != nil {
		f.then()
	}
	return f.err
}

func (f fakeRows) Executed(context.Context) (string, error) { return "position", nil }
func (f fakeRows) Close() error                             { return nil }

// folders of one node.
type folders struct{ state, holds, run string }

func newFolders(t *testing.T) folders { return folders{t.TempDir(), t.TempDir(), t.TempDir()} }

func (f folders) inspector(t *testing.T, rows fakeRows) *Inspector {
	t.Helper()
	i, err := New(f.state, f.holds, f.run, func(context.Context, string) (engine.Rows, error) { return rows, nil })
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func (f folders) ask(t *testing.T, r Request) {
	t.Helper()
	if err := Ask(f.run, r); err != nil {
		t.Fatal(err)
	}
}

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
	all := i.All()
	if len(all) != 1 || *all[0].Rows != 7 || *all[0].WriteIDs != 3 || all[0].Position != "position" || all[0].Milliseconds != 1234 || all[0].Error != "" {
		t.Fatalf("kept %+v", all)
	}
	text, err := i.IDs("17")
	if err != nil {
		t.Fatal(err)
	}
	ids, err := ledger.ReadBitmap(bytes.NewReader(text))
	if err != nil || ids.Count() != 3 || !ids.Has(900000) {
		t.Errorf("ids %v, %v", ids.First(5), err)
	}
}

func TestWhatWasNotReadIsUnknownAndSaysWhy(t *testing.T) {
	f := newFolders(t)
	i := f.inspector(t, fakeRows{ids: []uint64{3}, err: errors.New("broken")})
	f.ask(t, Request{Inspection: wire.Inspection{ID: "17"}, Socket: "s"})
	if err := i.look(context.Background()); err == nil {
		t.Fatal("rows that could not be read were taken for all")
	}
	if len(i.All()) != 0 {
		t.Fatalf("kept %+v, and the wrapper still waits", i.All())
	}
	f.ask(t, Request{Inspection: wire.Inspection{ID: "17", Error: "not within a minute"}, Final: true})
	if err := i.look(context.Background()); err != nil {
		t.Fatal(err)
	}
	if all := i.All(); len(all) != 1 || all[0].Rows != nil || all[0].Error == "" {
		t.Errorf("kept %+v", all)
	}
	if _, err := i.IDs("17"); !errors.Is(err, ErrUnknown) {
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
	if all := i.All(); len(all) != 1 || all[0].Rows != nil || all[0].Error == "" {
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
	if all := i.All(); len(all) != 1 || !all[0].Fresh || all[0].Rows != nil || ptr.Deref(all[0].WriteIDs, 0) != 0 {
		t.Errorf("kept %+v", all)
	}
}

func TestAnIDNamesNoOtherFile(t *testing.T) {
	f := newFolders(t)
	f.ask(t, Request{Inspection: wire.Inspection{ID: "../lease"}, Final: true})
	i := f.inspector(t, fakeRows{})
	if err := i.look(context.Background()); err == nil || len(i.All()) != 0 {
		t.Errorf("an id with a path was kept: %+v", i.All())
	}
}
