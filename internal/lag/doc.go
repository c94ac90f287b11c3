// Package lag measures replication lag from outside: it writes rows through the write path and watches every node for
// each of them, in one process on one monotonic clock.
//
// # What a sample is
//
// For each acknowledged write and each node that is not the writer's own server the probe keeps a bracket: its lower end
// is the start of the last read that did not see the write, its upper end is the end of the first read that did. The lag
// is the bracket's upper end minus the acknowledgement, so it is never an understatement, and the bracket's width is how
// much it may overstate. Before any read the lower end is the moment when the insert was about to be sent: the write did
// not exist yet. A lag is negative when a node showed the write before its writer was told of it. A sample is censored
// when no read was out while the insert began and the first read after it already saw the write.
//
// Visible means what the engine's own bookkeeping says, as a [Watcher] tells it.
//
// # How it watches
//
// The probe numbers its writes itself, so that a node can be asked to wait for one before it exists. Two sessions per
// node. The waiter is always blocked in a wait for the next write (slices of 250 ms): it is woken, or polls where a
// server cannot wake it. The checker takes single reads after the acknowledgement, whose negative answers raise the
// bracket's lower end: first when five of six writes are still unseen (learned from those before; at once where writes
// are visible at once), and then at growing distances. Where the waiter polls it keeps out of the way, and reads after
// 50 ms. While a node is behind, both read all outstanding writes at once.
//
// The probe is an open loop: a write is due at every interval whatever the nodes do, so a node that stalls for 10 s
// yields the sample of every write of these 10 s. A write that is due while the previous one has not returned, or while
// no server takes writes, is missed: there is no acknowledgement to count a lag from. A write whose answer did not come
// has an unknown fate: it is discarded, its session is closed so that nothing stays pending in it, and its number is
// never used again.
//
// # What counts
//
// Writes that begin while Config.Counted says so are the figures', whenever a node then shows them; the others are watched
// for [Probe.Latest] alone. A node that took writes until another did is a former primary until it shows a write that another server took:
// then it follows that one, and the writes that begin from then on count on it again. Those before are NodeLag.Away. Writes during which
// every other node was a former primary are Unwatched: nobody's lag is known of them.
//
// # What is never seen
//
// An outstanding write ages, which [Probe.Latest] shows, and it is Unseen when the probe ends. Its lag is at least its age,
// with which it enters the percentiles: these then are lower bounds, and a node that stops following cannot look better than
// one that is slow. A write that overflowed the 100,000 that are watched per node is Unseen too, and its lag at least 0.
// After a change of the primary, writes that the new primary does not have are
// set apart as Lost: no node is behind for lacking them, so they have no age; they are looked for once a second, and
// become samples should they appear after all (a second primary that was behind), else they end as Unseen. A node that
// becomes primary completes the samples of the writes it has, and gets no new ones while it is the primary.
package lag
