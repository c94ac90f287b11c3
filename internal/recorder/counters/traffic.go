package counters

import (
	"cmp"
	"slices"
	"time"

	"replab.dev/internal/wire"
)

// Traffic sums what nodes sent each other in each stage. It is not safe for concurrent use.
type Traffic struct {
	stages []string
	last   map[edge]exchanged
	sums   map[edgeStage]*wire.NodeTraffic
}

// edge leads from a node that counts to another one.
type edge struct{ node, peer string }

type edgeStage struct {
	edge
	stage string
}

// exchanged is a sample of an edge.
type exchanged struct {
	wire.PeerTraffic
	at    time.Time
	stage string
}

// NewTraffic returns sums for stages; results come in their order.
func NewTraffic(stages []string) *Traffic {
	return &Traffic{stages: stages, last: map[edge]exchanged{}, sums: map[edgeStage]*wire.NodeTraffic{}}
}

// Add takes a sample of a node. What passed since its previous sample counts for stage, "" for none.
func (t *Traffic) Add(node, stage string, sample wire.Resources) {
	for _, p := range sample.Peers {
		e := edge{node, p.Node}
		last, known := t.last[e]
		now := exchanged{p, sample.At.Time, stage}
		t.last[e] = now
		took := now.at.Sub(last.at)
		if !known || stage == "" || took <= 0 || last.stage != stage && took > gapMost { // most of a long gap was in stages before
			continue
		}
		k := edgeStage{e, stage}
		if t.sums[k] == nil {
			t.sums[k] = &wire.NodeTraffic{Node: node, Peer: p.Node, Stage: stage}
		}
		sum := t.sums[k]
		sum.DurationMicroseconds += took.Microseconds()
		sum.SentBytes += since(last.SentBytes, p.SentBytes)
	}
}

// Result returns one entry for each node, other node and stage that was sampled at least twice.
func (t *Traffic) Result() []wire.NodeTraffic {
	var all []wire.NodeTraffic
	for _, sum := range t.sums {
		all = append(all, *sum)
	}
	slices.SortFunc(all, func(a, b wire.NodeTraffic) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Peer, b.Peer), slices.Index(t.stages, a.Stage)-slices.Index(t.stages, b.Stage))
	})
	return all
}
