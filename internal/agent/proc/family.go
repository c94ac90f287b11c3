package proc

import (
	"errors"
	"fmt"

	"github.com/prometheus/procfs"
)

// Family are processes that live and die together: a manager, the server that it starts, and all that descend from the two. The server need
// not be the manager's child. It may be used by several goroutines.
type Family struct {
	server, manager *Finder
}

// NewFamily returns the family of a server and its manager; with a nil manager it is the server alone, without what descends from it.
func NewFamily(server, manager *Finder) *Family { return &Family{server: server, manager: manager} }

// Managed tells whether there is a manager, and so more than one process.
func (f *Family) Managed() bool { return f.manager != nil }

// All are those that run or are stopped, of the manager first and then of the server, each before its children; ErrNone when there is neither.
func (f *Family) All() ([]Process, error) {
	heads, err := f.heads()
	if err != nil {
		return nil, err
	}
	if !f.Managed() {
		return heads, nil
	}
	relations, err := readRelations()
	if err != nil {
		return nil, err
	}
	var all []Process
	known := map[Process]bool{}
	for _, head := range heads {
		for _, m := range relations.tree(head) {
			if !m.ended && !known[m.Process] {
				known[m.Process] = true
				all = append(all, m.Process)
			}
		}
	}
	if len(all) == 0 { // they have ended meanwhile
		return nil, ErrNone
	}
	return all, nil
}

// heads are the manager and the server, those of the two that there are; ErrNone when there is neither.
func (f *Family) heads() (heads []Process, err error) {
	for _, finder := range []*Finder{f.manager, f.server} {
		if finder == nil {
			continue
		}
		head, err := finder.Find()
		switch {
		case err == nil:
			heads = append(heads, head)
		case !errors.Is(err, ErrNone):
			return nil, err
		}
	}
	if len(heads) == 0 {
		return nil, ErrNone
	}
	return heads, nil
}

// member of a tree of processes.
type member struct {
	Process
	ended bool // and its parent has not asked how yet
}

// relations are all processes of a moment.
type relations struct {
	by       map[int]member
	children map[int][]int
}

// readRelations looks at each process once. One that ends meanwhile is left out.
func readRelations() (relations, error) {
	all, err := procfs.AllProcs()
	if err != nil {
		return relations{}, fmt.Errorf("look for the server's processes: %w", err)
	}
	r := relations{by: map[int]member{}, children: map[int][]int{}}
	for _, p := range all {
		stat, err := p.Stat()
		if err != nil {
			continue
		}
		r.by[p.PID] = member{Process{PID: p.PID, StartTicks: stat.Starttime}, ended(stat.State)}
		r.children[stat.PPID] = append(r.children[stat.PPID], p.PID)
	}
	return r, nil
}

// tree is a process and all that descend from it, each before its children; nothing when it is not there.
func (r relations) tree(head Process) []member {
	first, ok := r.by[head.PID]
	if !ok || first.Process != head {
		return nil
	}
	tree := []member{first}
	for i := 0; i < len(tree) && len(tree) <= len(r.by); i++ { // looks at each while it grows
		for _, child := range r.children[tree[i].PID] {
			tree = append(tree, r.by[child])
		}
	}
	return tree
}
