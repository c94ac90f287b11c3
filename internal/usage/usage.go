// Package usage measures what a process of replab uses itself.
package usage

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"

	"github.com/prometheus/procfs"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/wire"
)

// Own is what this process has used since it began, with the network of its pod.
func Own() (wire.Resources, error) {
	at := metav1.NowMicro()
	self, err := procfs.Self()
	if err != nil {
		return wire.Resources{}, fmt.Errorf("read own usage: %w", err)
	}
	stat, err := self.Stat()
	if err != nil {
		return wire.Resources{}, fmt.Errorf("read own processor time: %w", err)
	}
	io, err := self.IO()
	if err != nil {
		return wire.Resources{}, fmt.Errorf("read own block I/O: %w", err)
	}
	received, sent, err := Network()
	if err != nil {
		return wire.Resources{}, err
	}
	return wire.Resources{
		At: at, ServerPID: int64(os.Getpid()), CPUMicroseconds: int64(stat.CPUTime() * 1e6), ResidentBytes: int64(stat.ResidentMemory()),
		Threads: int64(stat.NumThreads), ReadBytes: int64(io.ReadBytes), WrittenBytes: int64(io.WriteBytes),
		NetworkReceivedBytes: received, NetworkSentBytes: sent,
	}, nil
}

// Handle answers with Own.
func Handle(w http.ResponseWriter, _ *http.Request) {
	own, err := Own()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(own) // the client may be gone
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
