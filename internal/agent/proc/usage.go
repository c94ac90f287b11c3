package proc

import (
	"fmt"

	"github.com/prometheus/procfs"
)

// Usage is what a process has used since it began, and its memory of the moment.
type Usage struct {
	CPUMicroseconds int64 // user and system time, in steps of 10,000
	ResidentBytes   int64
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
		ReadBytes:       int64(io.ReadBytes),
		WrittenBytes:    int64(io.WriteBytes),
	}, nil
}

// Network sums the bytes that passed the pod's interfaces, all but the loopback, since they exist.
func Network() (received, sent int64, err error) {
	self, err := procfs.Self()
	if err != nil {
		return 0, 0, fmt.Errorf("read the pod's network counters: %w", err)
	}
	devices, err := self.NetDev()
	if err != nil {
		return 0, 0, fmt.Errorf("read the pod's network counters: %w", err)
	}
	received, sent = sum(devices)
	return received, sent, nil
}

func sum(devices procfs.NetDev) (received, sent int64) {
	for name, d := range devices {
		if name != "lo" {
			received += int64(d.RxBytes)
			sent += int64(d.TxBytes)
		}
	}
	return received, sent
}
