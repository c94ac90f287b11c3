// Package part is the seam between the agent and the families of topologies: what a family adds to the agents of its nodes.
package part

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"replab.dev/internal/agent/history"
	"replab.dev/internal/agent/proc"
	"replab.dev/internal/engine"
	"replab.dev/internal/metrics"
	"replab.dev/internal/process"
	"replab.dev/internal/wire"
)

// Node is the node that a family's part is made for.
type Node struct {
	Config   wire.AgentConfig
	Name     string // of the pod
	Engine   engine.Local
	Server   *proc.Finder
	Client   engine.Client
	Password string // of the administrator
}

// Part knows whether its node takes the writes.
type Part interface {
	// Run works until ctx ends.
	Run(ctx context.Context)
	// Describe adds what the part knows to the node's state.
	Describe(state *wire.NodeState) error
	// Writes tells whether the server, where it is writable, is to take writes, and why not.
	Writes() (bool, string)
}

// Reader is a Part that decides whether others read from its node. Without it the server's replication decides.
type Reader interface {
	// Reads also returns the reason of a no.
	Reads() (bool, string)
}

// Switcher is a Part that can give the writes to another node.
type Switcher interface {
	// SwitchOver is asked under a name, and does it once. The error is history.ErrRefused where it cannot be done now.
	SwitchOver(name string) error
}

// Counter is a Part that counts what its node sends other nodes.
type Counter interface {
	// Traffic to each of them; none where it is not counted.
	Traffic() []wire.PeerTraffic
}

// Measured is a Part with metrics of its own.
type Measured interface {
	Families() []*metrics.Family
	Measure(metrics.Tell)
}

// Make makes a family's part. It returns nil for a node of another family.
type Make func(Node) (Part, error)

// Families are those that an agent knows.
type Families struct {
	Parts []Make
	// Remote is the whole agent of a node whose server it sees by address alone (wire.AgentConfig.Remote). It returns when ctx ends.
	Remote func(ctx context.Context, cfg wire.AgentConfig, e engine.Local) error
}

// PartOf returns the part of the family that the node belongs to, nil where it belongs to none.
func (f Families) PartOf(n Node) (Part, error) {
	for _, family := range f.Parts {
		if p, err := family(n); p != nil || err != nil {
			return p, err
		}
	}
	return nil, nil
}

// maxBody bounds a request, in bytes.
const maxBody = 1 << 20

// Serve runs an agent until ctx ends: its loops, its metrics and its answers.
func Serve(ctx context.Context, listen string, h http.Handler, m *prometheus.Registry, run func(context.Context)) error {
	ctx, cancel := context.WithCancel(ctx)
	var loops sync.WaitGroup
	loops.Go(func() { run(ctx) })
	loops.Go(func() { metrics.Serve(ctx, m) })
	defer loops.Wait()
	defer cancel()
	slog.Info("the agent listens", "address", listen)
	return process.Serve(ctx, &http.Server{Addr: listen, Handler: h})
}

// Decode reads a request's body. It answers the request where that fails.
func Decode(w http.ResponseWriter, r *http.Request, into any) error {
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err != nil {
		http.Error(w, "read the request's body: "+err.Error(), http.StatusBadRequest)
	}
	return err
}

// Decided answers with 200 for a yes and 503 for a no.
func Decided(w http.ResponseWriter, ok bool, why string) {
	if !ok {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_, _ = fmt.Fprintln(w, why) // the client may be gone
}

// JSON answers with a document.
func JSON(w http.ResponseWriter, document any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(document) // the client may be gone
}

// SwitchOver answers wire.AgentPathSwitchover.
func SwitchOver(s Switcher) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var request wire.SwitchoverRequest
		if err := Decode(w, r, &request); err != nil {
			return
		}
		if self := os.Getenv(wire.EnvPodName); request.From != self || request.Name == "" {
			http.Error(w, fmt.Sprintf("this is %s, and switchover %q is from %q", self, request.Name, request.From), http.StatusBadRequest)
			return
		}
		switch err := s.SwitchOver(request.Name); {
		case errors.Is(err, history.ErrRefused):
			http.Error(w, err.Error(), http.StatusConflict)
		case err != nil:
			http.Error(w, err.Error(), http.StatusInternalServerError)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	}
}

// Families of metrics that every agent has.
var (
	Up   = metrics.Gauge("replab_agent_server_up", "1 while the server answers a query.")
	Role = metrics.Gauge("replab_agent_role", "1 for the role that the agent reports to proxies; 0 for both roles of a node that is down or isolated.", "role")
)
