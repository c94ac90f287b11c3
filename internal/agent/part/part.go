// Package part is the seam between the agent and the families of topologies: what a family adds to the agents of its nodes.
package part

import (
	"context"

	"replab.dev/internal/agent/proc"
	"replab.dev/internal/engine"
	"replab.dev/internal/metrics"
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
