// Package switchover is what agents keep of the planned changes that their nodes were asked for, in the order in which they were: the last
// may be under way.
package switchover

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"replab.dev/internal/wire"
)

// ErrRefused says that a planned change cannot be made now.
var ErrRefused = errors.New("refused")

// New tells whether a change that is asked for under a name is a new one: what was is asked for once. The error is ErrRefused while another one is
// under way.
func New(all []wire.Switchover, name string) (bool, error) {
	if slices.ContainsFunc(all, func(s wire.Switchover) bool { return s.Name == name }) {
		return false, nil
	}
	if open := UnderWay(all); open != nil {
		return false, fmt.Errorf("%w: %s is under way", ErrRefused, open.Name)
	}
	return true, nil
}

// UnderWay is the one that has not ended, nil without one.
func UnderWay(all []wire.Switchover) *wire.Switchover {
	if last := len(all) - 1; last >= 0 && all[last].Outcome == "" {
		return &all[last]
	}
	return nil
}

// Aged are all as they are told at a moment.
func Aged(all []wire.Switchover, now time.Time) []wire.Switchover {
	told := slices.Clone(all)
	for i := range told {
		told[i].AgeMilliseconds = max(now.Sub(told[i].RequestedAt.Time), 0).Milliseconds()
	}
	return told
}
