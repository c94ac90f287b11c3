// Package audit is `replab audit`: after the load it compares what the recorder's ledger says of every write with what
// each database node has, as exact sets of ids, and leaves an AuditResult in its ConfigMap.
//
// Each node is read in one consistent snapshot: one scan of an index brings every write id, and with it the rows, those
// without an id, and the duplicates. COUNT(*) counts the rows a second time by another way; where the two differ, the
// node has no figures but a reason. Ids are held as bitmaps, one bit a write, and the ledger is read as a stream.
//
// A node whose connection is lost is read anew, up to three times, in a snapshot of its own each time.
//
// What is a database's own is behind Reader and History, which each engine implements.
package audit
