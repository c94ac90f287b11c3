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
