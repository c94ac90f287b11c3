// Package measure tells what the other processes of a pod use, for programs that do not tell it themselves: proxies and k6. It runs in a container of
// its own beside them, in a pod whose containers share their process IDs.
package measure

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net/http"
	"os"

	"github.com/prometheus/procfs"
	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/process"
	"replab.dev/internal/usage"
	"replab.dev/internal/wire"
)

// Subcommand of replab.
const Subcommand = "measure"

// Command returns `replab measure`.
func Command() *cobra.Command {
	return &cobra.Command{
		Use:   Subcommand,
		Short: "Tell what the other processes of the pod use",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			ctx, cancel := process.Context()
			defer cancel()
			return serve(ctx, fmt.Sprintf(":%d", wire.PortMeasure))
		},
	}
}

func serve(ctx context.Context, address string) error {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+wire.AgentPathResources, handle)
	return process.Serve(ctx, &http.Server{Addr: address, Handler: mux})
}

func handle(w http.ResponseWriter, _ *http.Request) {
	used, err := others(procfs.DefaultMountPoint, os.Getpid())
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(used) // the client may be gone
}

var errNoProcess = errors.New("no other process runs in the pod")

// others is what all processes have used but the one with a process ID, and the pod's first one, which only holds its namespaces.
func others(proc string, self int) (wire.Resources, error) {
	sum := wire.Resources{At: metav1.NowMicro()}
	files, err := procfs.NewFS(proc)
	if err != nil {
		return sum, fmt.Errorf("read the pod's processes: %w", err)
	}
	all, err := files.AllProcs()
	if err != nil {
		return sum, fmt.Errorf("read the pod's processes: %w", err)
	}
	for _, p := range all {
		if p.PID == 1 || p.PID == self {
			continue
		}
		switch err := add(&sum, p); {
		case errors.Is(err, fs.ErrNotExist): // it ended meanwhile
		case err != nil:
			return sum, fmt.Errorf("read process %d of the pod: %w", p.PID, err)
		}
	}
	if sum.ServerPID == 0 {
		return sum, errNoProcess
	}
	sum.NetworkReceivedBytes, sum.NetworkSentBytes, err = usage.Network()
	return sum, err
}

// add what one process has used. The sum has the process ID of the oldest.
func add(sum *wire.Resources, p procfs.Proc) error {
	stat, err := p.Stat()
	if err != nil {
		return err
	}
	io, err := p.IO()
	if err != nil {
		return err
	}
	if sum.ServerPID == 0 || int64(p.PID) < sum.ServerPID {
		sum.ServerPID = int64(p.PID)
	}
	sum.CPUMicroseconds += int64(math.Round(stat.CPUTime() * 1e6))
	sum.ResidentBytes += int64(stat.ResidentMemory())
	sum.Threads += int64(stat.NumThreads)
	sum.ReadBytes += int64(io.ReadBytes)
	sum.WrittenBytes += int64(io.WriteBytes)
	return nil
}
