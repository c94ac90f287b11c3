// Package cgroups makes, ends and removes control groups of version 1 and 2.
package cgroups

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"replab.dev/hack/local/internal/proc"
)

const mount = "/sys/fs/cgroup"

// Group is the group that holds all containers of the engine, in every hierarchy. That
// all of them are in one of our own makes them easy to find and to end.
type Group string

// Ensure makes the group. The kubelet does not do it: it demands that the root
// it is given exists.
func (g Group) Ensure() error {
	if unified() {
		return g.ensureUnified()
	}
	roots, err := hierarchies()
	if err != nil {
		return err
	}
	for _, root := range roots {
		dir := filepath.Join(root, string(g))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("make cgroup %s: %w", dir, err)
		}
		// A new group of this hierarchy has no processor and no memory node at
		// first, and nothing can run in it.
		for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
			if err := inherit(root, dir, file); err != nil {
				return err
			}
		}
	}
	return nil
}

func (g Group) ensureUnified() error {
	dir := filepath.Join(mount, string(g))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make cgroup %s: %w", dir, err)
	}
	b, err := os.ReadFile(filepath.Join(mount, "cgroup.controllers"))
	if err != nil {
		return err
	}
	for name := range strings.FieldsSeq(string(b)) {
		for _, d := range []string{mount, dir} {
			// A controller that cannot be handed down is missed by the kubelet,
			// which says so better than this could.
			_ = os.WriteFile(filepath.Join(d, "cgroup.subtree_control"), []byte("+"+name), 0o644)
		}
	}
	return nil
}

// inherit fills an empty file of a group from the group above it.
func inherit(from, to, file string) error {
	value, err := os.ReadFile(filepath.Join(to, file))
	if errors.Is(err, os.ErrNotExist) || len(bytes.TrimSpace(value)) > 0 {
		return nil
	}
	if err != nil {
		return err
	}
	value, err = os.ReadFile(filepath.Join(from, file))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(to, file), bytes.TrimSpace(value), 0o644)
}

// EndProcesses ends every process in the group: pods that nobody manages any more.
func (g Group) EndProcesses(patience time.Duration) error {
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		ids, err := g.processes()
		if err != nil || len(ids) == 0 {
			return err
		}
		if time.Now().After(end) {
			return fmt.Errorf("%d processes of the Docker engine do not end; the first is %d", len(ids), ids[0].PID)
		}
		for _, id := range ids {
			if id.Alive() {
				_ = unix.Kill(id.PID, unix.SIGKILL)
			}
		}
	}
}

func (g Group) processes() ([]proc.Identity, error) {
	dirs, err := g.directories()
	if err != nil {
		return nil, err
	}
	seen := map[int]bool{}
	var ids []proc.Identity
	for _, dir := range dirs {
		b, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
		if err != nil {
			continue // the group is gone, and its processes with it
		}
		for field := range strings.FieldsSeq(string(b)) {
			pid, err := strconv.Atoi(field)
			if err != nil || seen[pid] {
				continue
			}
			seen[pid] = true
			if id, err := proc.Identify(pid); err == nil {
				ids = append(ids, id)
			}
		}
	}
	return ids, nil
}

// Remove removes the group with all below it. It must be empty of processes.
func (g Group) Remove() error {
	dirs, err := g.directories()
	if err != nil {
		return err
	}
	var errs []error
	for i := len(dirs) - 1; i >= 0; i-- {
		errs = append(errs, removeGroup(dirs[i]))
	}
	return errors.Join(errs...)
}

// removeGroup tries for a while: the last process leaves a group a moment after
// its end.
func removeGroup(dir string) error {
	var err error
	for range 50 {
		err = unix.Rmdir(dir)
		if err == nil || errors.Is(err, unix.ENOENT) {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return fmt.Errorf("remove cgroup %s: %w", dir, err)
}

// directories lists the group's folders in all hierarchies, parents first.
func (g Group) directories() ([]string, error) {
	roots, err := hierarchies()
	if err != nil {
		return nil, err
	}
	var dirs []string
	for _, root := range roots {
		_ = filepath.WalkDir(filepath.Join(root, string(g)), func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				dirs = append(dirs, path)
			}
			return nil // groups come and go while one looks
		})
	}
	return dirs, nil
}

func unified() bool {
	_, err := os.Stat(filepath.Join(mount, "cgroup.controllers"))
	return err == nil
}

// hierarchies lists the folders that cgroups are made below.
func hierarchies() ([]string, error) {
	if unified() {
		return []string{mount}, nil
	}
	entries, err := os.ReadDir(mount)
	if err != nil {
		return nil, fmt.Errorf("list cgroups: %w", err)
	}
	var roots []string
	for _, e := range entries {
		// Links such as cpuacct -> cpu,cpuacct would be seen twice.
		if e.IsDir() {
			roots = append(roots, filepath.Join(mount, e.Name()))
		}
	}
	return roots, nil
}
