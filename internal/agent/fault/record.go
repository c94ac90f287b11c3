package fault

import (
	"fmt"
	"net/netip"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/agent/notes"
	"replab.dev/internal/agent/proc"
	"replab.dev/internal/wire"
)

// record is a fault's note on disk.
type record struct {
	wire.FaultRecord
	Server *proc.Process `json:"server,omitempty"` // its first process, which was signalled
	// Others are those that were signalled with it, where a manager runs the server; the manager's first.
	Others []proc.Process `json:"others,omitempty"`
}

// action is one kind of fault.
type action interface {
	// inject does it. It calls r.injected with the time right before the act, and may note more. On an error nothing was
	// done that release would not undo.
	inject(r *record) error
	// confirm waits for the effect and tells whether, and as what, it was seen.
	confirm(r record) (confirmed bool, evidence string)
	// release undoes what lasts of it; there may be nothing left.
	release(r record) error
	// broken tells whether something that a hold is to keep as it is has been changed by others, and what is seen of it.
	broken(r record) (is bool, seen string)
	// examine tells a new agent whether something of the fault lasts, and what is seen of it.
	examine(r record) (stands bool, seen string)
}

// injected notes the time of the act, from which on it is held.
func (r *record) injected(at time.Time) {
	t := metav1.NewMicroTime(at)
	r.InjectedAt, r.HeldUntil = &t, r.holdEnd(t)
}

// holdEnd is nil when there is no end, or no hold.
func (r *record) holdEnd(from metav1.MicroTime) *metav1.MicroTime {
	if r.HoldMilliseconds <= 0 {
		return nil
	}
	t := metav1.NewMicroTime(from.Add(time.Duration(r.HoldMilliseconds) * time.Millisecond))
	return &t
}

// hit notes the signalled processes. server is nil if none ran.
func (r *record) hit(all []proc.Process, server *proc.Process) {
	for _, p := range all {
		if server != nil && p == *server {
			r.Server = server
		} else {
			r.Others = append(r.Others, p)
		}
	}
}

// targets are all that were signalled, the server last.
func (r *record) targets() []proc.Process {
	all := slices.Clone(r.Others)
	if r.Server != nil {
		all = append(all, *r.Server)
	}
	return all
}

// name is of one of them, in evidence.
func (r *record) name(p proc.Process) string {
	if r.Server != nil && p == *r.Server {
		return fmt.Sprintf("server process %d", p.PID)
	}
	return fmt.Sprintf("process %d of the server", p.PID)
}

// whom names them in evidence.
func (r *record) whom() string {
	switch {
	case r.Server == nil:
		return fmt.Sprintf("the %d processes of its manager, without a server,", len(r.Others))
	case len(r.Others) == 0:
		return fmt.Sprintf("server process %d", r.Server.PID)
	}
	return fmt.Sprintf("server process %d and %d others of it and its manager", r.Server.PID, len(r.Others))
}

func (r *record) stands() bool { return r.HoldMilliseconds != 0 && r.ReleasedAt == nil }

// outlivesPod tells whether what the action leaves behind is on the volume.
func (r *record) outlivesPod() bool {
	return r.Action == wire.FaultKill || r.Action == wire.FaultHold
}

var validName = regexp.MustCompile(`^[a-z0-9]([-.a-z0-9]{0,61}[a-z0-9])?$`)

func validate(r wire.FaultRequest) error {
	if !validName.MatchString(r.Name) {
		return fmt.Errorf("%w: the name %q must be 1 to 63 lower-case letters, digits and dashes", ErrInvalid, r.Name)
	}
	if r.HoldMilliseconds < -1 {
		return fmt.Errorf("%w: holdMilliseconds of %s is %d; use -1 for a hold without end", ErrInvalid, r.Name, r.HoldMilliseconds)
	}
	switch r.Action {
	case wire.FaultKill, wire.FaultPause, wire.FaultHold:
		return nil
	case wire.FaultKillServer:
		if r.HoldMilliseconds != 0 {
			return fmt.Errorf("%w: holdMilliseconds of %s is %d, and what was killed alone is started again by its manager; use Kill to keep it down",
				ErrInvalid, r.Name, r.HoldMilliseconds)
		}
		return nil
	case wire.FaultPartition:
		_, err := addresses(r)
		return err
	}
	return fmt.Errorf("%w: action %q of %s is not one of Kill, KillServer, Pause, Partition, Hold", ErrInvalid, r.Action, r.Name)
}

// addresses are those that a request names itself.
func addresses(r wire.FaultRequest) ([]netip.Addr, error) {
	var parsed []netip.Addr
	for _, text := range r.Addresses {
		a, err := netip.ParseAddr(text)
		if err != nil {
			return nil, fmt.Errorf("%w: address %q of %s: %w", ErrInvalid, text, r.Name, err)
		}
		parsed = append(parsed, a)
	}
	if len(parsed) == 0 && !r.Store {
		return nil, fmt.Errorf("%w: partition %s names no address to cut off", ErrInvalid, r.Name)
	}
	return parsed, nil
}

// recordsIn is the folder with one note per fault.
func recordsIn(stateDir string) notes.Folder[record] {
	return notes.Folder[record]{Dir: filepath.Join(stateDir, "faults")}
}
