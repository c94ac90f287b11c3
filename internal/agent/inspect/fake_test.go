package inspect

import (
	"context"
	"errors"
	"testing"

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

func (f fakeRows) Close() error { return nil }

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

// idsOf reads the file with the ids, as many as the list says.
func idsOf(t *testing.T, i *Inspector) ledger.Bitmap {
	t.Helper()
	file, err := i.IDs()
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	ids, err := ledger.ReadBitmap(file)
	if n := i.All().WriteIDs; err != nil || n == nil || *n != ids.Count() {
		t.Errorf("ids %v, %v", ids.First(5), err)
	}
	return ids
}
