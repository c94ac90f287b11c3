// Package ledger keeps the recorder's account of every write: which ids were sent, and what became of each. It is the
// one side of the comparison that decides how many writes a database lost; the tables are the other.
//
// # File
//
// A ledger is a file of 16-byte records, appended and never changed. Integers are big-endian:
//
//	offset  bytes  field
//	0       5      id
//	5       1      kind
//	6       6      microseconds since the ledger's epoch, signed (two's complement)
//	12      4      CRC-32C (Castagnoli) of bytes 0 to 11
//
//	kind              id                                         microseconds
//	1  header         the 5 bytes "RPLG" and the version, 1      epoch: milliseconds since 1970-01-01T00:00:00Z
//	2  lease          first id of a block of BlockIDs ids        0
//	3  acknowledged   the write                                  when the outcome was known
//	4  rejected       the write                                  when the outcome was known
//	5  indeterminate  the write                                  when the outcome was known
//	6  restart        0                                          when a writer came up on the existing ledger
//	7  closed         first id that was never handed out         0
//
// The header comes first and once. Ids begin at 1 and leases follow one another without a gap. A closed record takes
// back what its writer leased and did not hand out; only a restart can follow it.
//
// # What survives what
//
// A lease is flushed to the disk (fdatasync) before any id of its block is handed out. An outcome is in the kernel
// (write) before Record returns, and is flushed with the next lease. So a process that dies at any instant, SIGKILL
// included, loses no outcome that it had told anybody; a machine that dies loses outcomes since the last lease, never a
// lease. An id that was leased and has no outcome counts as indeterminate: forgetting an outcome can turn a finding into
// "not known", and can never make one up.
//
// A record that is cut short at the end of the file is what a dying writer leaves: it was not told to anybody, and
// is dropped. Anything else that does not add up (a checksum, an order, an id that was never leased) is an error
// that names the offset.
package ledger

// BlockIDs is how many ids one lease covers. One flush a block keeps the ledger out of the writes' latency.
const BlockIDs = 10_000

// MaxID is the largest id that a record can hold.
const MaxID = 1<<40 - 1
