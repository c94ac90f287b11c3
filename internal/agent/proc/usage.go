package proc

import (
	"errors"
	"fmt"

	"github.com/prometheus/procfs"
)

// Usage is what a process has used since it began, and its memory and threads of the moment.
type Usage struct {
	CPUMicroseconds int64 // user and system time, in steps of 10,000
	ResidentBytes   int64
	Threads         int64 // of the moment
	ReadBytes       int64 // from block devices
	WrittenBytes    int64 // to block devices
}

// Usage reads /proc/PID/stat and /proc/PID/io.
func (p Process) Usage() (Usage, error) {
	proc, err := procfs.NewProc(p.PID)
	if err != nil {
		return Usage{}, fmt.Errorf("read the usage of process %d: %w", p.PID, err)
	}
	io, err := proc.IO()
	if err != nil {
		return Usage{}, fmt.Errorf("read the usage of process %d (the agent must run as the server's user): %w", p.PID, err)
	}
	stat, err := p.stat() // after io: both are of this process
	if err != nil {
		return Usage{}, fmt.Errorf("read the usage of the server: %w", err)
	}
	return Usage{
		CPUMicroseconds: int64(stat.UTime+stat.STime) * 1_000_000 / ticksPerSecond,
		ResidentBytes:   int64(stat.ResidentMemory()),
		Threads:         int64(stat.NumThreads),
		ReadBytes:       int64(io.ReadBytes),
		WrittenBytes:    int64(io.WriteBytes),
	}, nil
}

// usageTries is how often the processes are read anew because one of them has gone meanwhile.
const usageTries = 10

// errUnsteady says that a process has gone, and what it had used with it, while the others were read.
var errUnsteady = errors.New("the server's processes come and go faster than they can be read")

// Usage is what the server and all that descend from it have used since it began, with what those had used that have ended; shared memory
// counts once. It returns the server's first process as well, and ErrNone while there is none.
//
// What the manager uses is not in it: it began before the server and outlives it, and counters of a server begin with it.
func (f *Family) Usage() (Process, Usage, error) {
	server, err := f.server.Find()
	if err != nil {
		return Process{}, Usage{}, err
	}
	if !f.Managed() {
		u, err := server.Usage()
		return server, u, err
	}
	for range usageTries {
		u, err := usageOfTree(server)
		if !errors.Is(err, errUnsteady) {
			return server, u, err
		}
		if !server.Alive() {
			return Process{}, Usage{}, ErrNone
		}
	}
	return Process{}, Usage{}, fmt.Errorf("read the usage of process %d: %w", server.PID, errUnsteady)
}

// usageOfTree sums over processes. What a process that ended had used is its parent's from the moment at which the parent asks how it ended,
// and only then is it gone: while all are there that were read, nothing is counted twice or not at all. Who ended and is still there counts
// for itself.
func usageOfTree(head Process) (Usage, error) {
	relations, err := readRelations()
	if err != nil {
		return Usage{}, err
	}
	tree := relations.tree(head)
	if len(tree) == 0 {
		return Usage{}, errUnsteady
	}
	var all []reading
	for _, m := range tree {
		r, err := m.read()
		if err != nil {
			return Usage{}, err
		}
		all = append(all, r)
	}
	for _, m := range tree {
		if _, err := m.stat(); err != nil {
			return Usage{}, errUnsteady
		}
	}
	return total(all), nil
}

// reading is what a process has used with its children that are gone, and its resident memory: its own, what it shares with others, and what
// it has mapped of files.
type reading struct {
	used                    Usage
	private, shared, mapped uint64
}

// total counts memory that processes share once, as much as any one of them has touched of it.
func total(all []reading) (sum Usage) {
	var shared, mapped uint64
	for _, r := range all {
		sum.CPUMicroseconds += r.used.CPUMicroseconds
		sum.Threads += r.used.Threads
		sum.ReadBytes += r.used.ReadBytes
		sum.WrittenBytes += r.used.WrittenBytes
		sum.ResidentBytes += int64(r.private)
		shared, mapped = max(shared, r.shared), max(mapped, r.mapped)
	}
	sum.ResidentBytes += int64(shared + mapped)
	return sum
}

// read returns errUnsteady for a process that has gone.
func (p Process) read() (reading, error) {
	proc, err := procfs.NewProc(p.PID)
	if err != nil {
		return reading{}, errUnsteady
	}
	io, failed := proc.IO()
	memory, err := proc.NewStatus()
	failed = errors.Join(failed, err)
	stat, err := p.stat() // after the others: they are of this process, or failed since it has gone
	if err != nil {
		return reading{}, errUnsteady
	}
	if failed != nil {
		return reading{}, fmt.Errorf("read the usage of process %d (the agent must run as the server's user): %w", p.PID, failed)
	}
	ticks := int64(stat.UTime+stat.STime) + int64(stat.CUTime+stat.CSTime)
	return reading{
		used: Usage{
			CPUMicroseconds: ticks * 1_000_000 / ticksPerSecond, Threads: int64(stat.NumThreads), ReadBytes: int64(io.ReadBytes), WrittenBytes: int64(io.WriteBytes),
		},
		private: memory.RssAnon, shared: memory.RssShmem, mapped: memory.RssFile,
	}, nil
}
