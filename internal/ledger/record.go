// Package ledger keeps the recorder's account of every write: which ids were sent, and what became of each. It is the
// one side of the comparison that decides how many writes a database lost; the tables are the other.
//
// A ledger is a file of 16-byte records, appended and never changed. Integers are big-endian:
//
//	offset  bytes  field
//	0       5      id
//	5       1      kind
//	6       6      microseconds since the ledger's epoch, signed (two's complement); 0 where a record has no time
//	12      4      CRC-32C (Castagnoli) of bytes 0 to 11
//
// The header comes first and once: its id is the bytes "RPLG" and the version, 1, its time the epoch in milliseconds since 1970. Ids begin at 1,
// and leases follow one another without a gap. docs/internals.md, "The ledger", says what survives what.
package ledger

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"time"
)

// BlockIDs is how many ids one lease covers. One flush a block keeps the ledger out of the writes' latency.
const BlockIDs = 10_000

// MaxID is the largest id that a record can hold.
const MaxID = 1<<40 - 1

// Kind is what a record says.
type Kind uint8

// Kinds of records, as they stand in the file.
const (
	KindHeader       Kind = iota + 1
	KindLease             // the first id of a block of BlockIDs ids
	KindAcknowledged      // a write, and when its outcome was known; so are the next two
	KindRejected
	KindIndeterminate
	KindRestart // a writer came up on the existing ledger
	KindClosed  // the first id that was never handed out; only a restart can follow it
)

// Outcome is what became of one write.
type Outcome uint8

// Outcomes. When in doubt a write is indeterminate.
const (
	Acknowledged  = Outcome(KindAcknowledged)  // the database said that it committed
	Rejected      = Outcome(KindRejected)      // the database certainly did not commit
	Indeterminate = Outcome(KindIndeterminate) // anything else
)

// Record is one record of a ledger.
type Record struct {
	Offset int64 // of its first byte in the file
	ID     uint64
	Kind   Kind
	At     time.Time // UTC; zero for leases and closed, which carry no time
}

// RecordBytes is the size of a record in the file.
const RecordBytes = 16

const (
	magic        = "RPLG\x01"
	idBytes      = 5
	kindOffset   = idBytes
	timeOffset   = kindOffset + 1
	checksumFrom = 12

	maxMicroseconds = 1<<47 - 1 // 4.4 years on either side of the epoch
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var errChecksum = errors.New("checksum does not match: the file was damaged")

// header returns the first record of a ledger whose epoch is the given one, which must be whole milliseconds.
func header(buf *[RecordBytes]byte, epoch time.Time) {
	var id [8]byte
	copy(id[8-idBytes:], magic)
	encode(buf, binary.BigEndian.Uint64(id[:]), KindHeader, epoch.UnixMilli())
}

// encode writes one record into buf. stamp is the content of the 6-byte time field.
func encode(buf *[RecordBytes]byte, id uint64, kind Kind, stamp int64) {
	binary.BigEndian.PutUint64(buf[:], id<<24)
	binary.BigEndian.PutUint64(buf[4:], uint64(stamp)&(1<<48-1)|uint64(buf[4])<<56|uint64(kind)<<48)
	binary.BigEndian.PutUint32(buf[checksumFrom:], crc32.Checksum(buf[:checksumFrom], castagnoli))
}

// decode checks one record's bytes and takes them apart; stamp is the sign-extended time field.
func decode(buf []byte) (id uint64, kind Kind, stamp int64, err error) {
	if crc32.Checksum(buf[:checksumFrom], castagnoli) != binary.BigEndian.Uint32(buf[checksumFrom:]) {
		return 0, 0, 0, errChecksum
	}
	id = binary.BigEndian.Uint64(buf) >> 24
	stamp = int64(binary.BigEndian.Uint64(buf[4:])<<16) >> 16
	return id, Kind(buf[kindOffset]), stamp, nil
}

// microseconds returns t as a record's time field.
func microseconds(sinceEpoch time.Duration) (int64, error) {
	us := sinceEpoch.Microseconds()
	if us > maxMicroseconds || us < -maxMicroseconds {
		return 0, fmt.Errorf("time is %s from the ledger's epoch, more than a record can hold: check the machine's clock", sinceEpoch)
	}
	return us, nil
}
