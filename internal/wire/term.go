package wire

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// WriterTerm is a time during which a node was the writer, by its own clock, where nodes tell of themselves: as members of a group, or beside
// their managers.
type WriterTerm struct {
	From metav1.MicroTime  `json:"from"`
	To   *metav1.MicroTime `json:"to,omitempty"` // absent while it lasts, and when nobody saw its end
	// After is the node that this one had taken for the writer before; "" for none. NoticedAt is when it first saw that After no
	// longer could be.
	After     string            `json:"after,omitempty"`
	NoticedAt *metav1.MicroTime `json:"noticedAt,omitempty"`
	// AfterCounts tells that After still was one of the group's members when this one took over: a commit may have had to wait until the
	// others had given it up. Of members of a group alone.
	AfterCounts bool `json:"afterCounts,omitempty"`
	// Switchover is the name under which After was asked to give the writes up, and NoticedAt then is when; "" where nobody had asked. Of
	// members of a group alone.
	Switchover string `json:"switchover,omitempty"`
}

// Absence is a time during which a node was not in its place, by its own agent's clock.
type Absence struct {
	LeftAt metav1.MicroTime  `json:"leftAt"`
	BackAt *metav1.MicroTime `json:"backAt,omitempty"` // absent while it lasts
	// Transfer is the last one in it that came to its end; absent without one. Of members of a group alone.
	Transfer *StateTransfer `json:"transfer,omitempty"`
	// Rewind is the last one in it; absent without one. This and what follows are of nodes whose servers a manager runs.
	Rewind *RewindNote `json:"rewind,omitempty"`
	// Copied: the node became a new copy of another one. CopyMilliseconds is how long that took as far as it was seen; absent where
	// nobody saw its end.
	Copied           bool   `json:"copied,omitempty"`
	CopyMilliseconds *int64 `json:"copyMilliseconds,omitempty"`
}
