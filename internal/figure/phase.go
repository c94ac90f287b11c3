package figure

import "slices"

// Phase is a part of a failover's outage. Code keys by it; people read the title of its entry.
type Phase string

// Phases of a failover.
const (
	Detection Phase = "detection"
	Promotion Phase = "promotion"
	Routing   Phase = "routing"
)

// Phases of a failover, in their order.
func Phases() []Phase { return []Phase{Detection, Promotion, Routing} }

// Path in the status of how long the phase took.
func (p Phase) Path() string { return "failover." + string(p) + "Milliseconds" }

// Entry of the catalogue with the phase's path.
func (p Phase) Entry() Entry {
	return catalogue[slices.IndexFunc(catalogue, func(e Entry) bool { return e.Path == p.Path() })]
}
