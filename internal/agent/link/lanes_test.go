package link

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"replab.dev/internal/wire"
)

func TestLanesOf(t *testing.T) {
	for _, c := range []struct {
		name  string
		peers []wire.Peer
		want  string // or the error
	}{
		{"nobody", nil, ""},
		{"a peer at no distance is in no lane", []wire.Peer{{Address: "10.0.0.1"}}, ""},
		{
			"one lane for each delay, from the shortest",
			[]wire.Peer{{Address: "10.0.0.1", DelayMicroseconds: 43_500}, {Address: "10.0.0.2", DelayMicroseconds: 500}, {Address: "fd00::1", DelayMicroseconds: 43_500}},
			"500us [10.0.0.2] 43500us [10.0.0.1 fd00::1]",
		},
		{"no address", []wire.Peer{{Address: "db-0", DelayMicroseconds: 1}}, "invalid links"},
		{"an address twice", []wire.Peer{{Address: "10.0.0.1", DelayMicroseconds: 1}, {Address: "::ffff:10.0.0.1", DelayMicroseconds: 2}}, "10.0.0.1 is there twice"},
		{"back in time", []wire.Peer{{Address: "10.0.0.1", DelayMicroseconds: -1}}, "not from 0 to"},
		{"too long", []wire.Peer{{Address: "10.0.0.1", DelayMicroseconds: 60_000_001}}, "not from 0 to"},
	} {
		lanes, err := lanesOf(c.peers)
		got := ""
		for _, l := range lanes {
			got = strings.TrimSpace(fmt.Sprint(got, " ", l.name(), " ", l.addresses))
		}
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) || (c.want == "") != (got == "") || err != nil && !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
