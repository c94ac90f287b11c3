package engine

import (
	"context"
	"time"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/wire"
)

// Group are the settings of servers that form a group: its members agree on the commits and on the membership.
type Group struct {
	Name string
	// SyncWait says which statements wait until the member has applied what the others had committed, as the engine counts them.
	SyncWait int32
	// SuspectMilliseconds is for how long a member may be silent until the others take it for lost; 0: the engine's default.
	SuspectMilliseconds int64
	// SendWindowPackets is how many packets a member may have under way unconfirmed; 0: the engine's default.
	SendWindowPackets int32
}

// Member is a Client of a server that is a member of a group.
type Member interface {
	// Group is what the server says of its group.
	Group(context.Context) (GroupLook, error)
	// TakeOver makes the component primary, unless it is another one by now. It must be certain that no other is or becomes primary.
	TakeOver(ctx context.Context, component string) error
}

// GroupLook is what a member says of its group at one moment.
type GroupLook struct {
	wire.GroupView       // without the times
	Pending        int64 // transactions that it has received and not applied
}

// Grouped is a Starter whose servers can be members of a group. It performs no IO.
type Grouped interface {
	// Private is a member's own configuration, beside Program's: its name, its address, and secrets. The configuration includes it
	// from a file in Place.RunDir, which must be there whatever is started, and which others must not read.
	Private(MemberParams) (PrivateFile, error)
	// Recovery is how to learn how far a stopped server's data have come.
	Recovery(argv []string) Recovery
	// Enter is how to start a server as a member.
	Enter(argv []string, n StartParams, e Entry) Start
	// ReadTransfer finds in a line of the server's log what has come of a transfer of the others' data to it.
	ReadTransfer(line string) (TransferNote, bool)
}

// MemberParams are what differs between members.
type MemberParams struct {
	Name    string // of the node
	Address string // its IP address
	// Peers are the addresses of other members that can be reached.
	Peers []string
	// Donors are the names of the nodes that the data are to be fetched from, the best first.
	Donors   []string
	Password func(account string) (string, error)
}

// PrivateFile is a file's name and content.
type PrivateFile struct {
	Name    string
	Content string
}

// Recovery of a position.
type Recovery struct {
	Start
	// Unfinished are files in the data directory while it holds a part of another member's data.
	Unfinished []string
	// Whole are files that complete data have. A transfer removes them first; one that fails also removes its own mark.
	Whole []string
	// Note is a file in the data directory in which a server that ends in order leaves its position; may be empty.
	Note string
	// Position reads what the process wrote, and the note as it was before; "" without one, and where the beginning of what it wrote is lost.
	Position func(output, note string) (wire.GroupPosition, error)
}

// Entry of a server into a group.
type Entry struct {
	// Begins makes a component of this member alone, which is primary. It must be certain that no other is or becomes primary.
	Begins   bool
	Position wire.GroupPosition // of its data
}

// TransferNote is what a line of the log says of a transfer.
type TransferNote struct {
	Event TransferEvent
	Kind  v1alpha1.ResyncMethod // as far as it is known yet
	// At is when the server said so, by its own clock, which is the machine's; zero where it says so as it happens.
	At time.Time
}

// TransferEvent is what has come of a transfer.
type TransferEvent int

// Events of a transfer.
const (
	TransferBegins    TransferEvent = iota
	TransferIs                      // of another kind than it seemed when it began
	TransferCatchesUp               // brings what is missing: in one that has begun, or, where a server had run on while it was away, as one of its own
	TransferEnds                    // and the server has what the others have
	TransferFails                   // and the server stays out of its group until it is started again
)
