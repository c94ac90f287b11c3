package ledger

// Comparison holds the sizes of the sets that section 1 of measurement.md defines, from exact sets: two errors of the same
// size cannot hide each other.
type Comparison struct {
	Sent          int64
	Acknowledged  int64
	Rejected      int64
	Indeterminate int64
	Present       int64 // different ids that the database has
	Lost          int64 // acknowledged and not present
	Recovered     int64 // indeterminate and present
	Vanished      int64 // indeterminate and not present
	Unexpected    int64 // present though rejected, or never sent
	Duplicates    int64 // rows beyond the first of their id
	// Balanced: sent = acknowledged + rejected + indeterminate, and
	// present = acknowledged - lost + recovered + unexpected.
	Balanced bool
	// LostIDs are the lost ones themselves.
	LostIDs Bitmap
}

// Compare compares a ledger with the ids that a database has, and the number of rows that repeat an id.
func Compare(sets Sets, present Bitmap, duplicates int64) Comparison {
	lost := AndNot(sets.Acknowledged, present)
	c := Comparison{
		Sent:          sets.Sent.Count(),
		Acknowledged:  sets.Acknowledged.Count(),
		Rejected:      sets.Rejected.Count(),
		Indeterminate: sets.Indeterminate.Count(),
		Present:       present.Count(),
		Lost:          lost.Count(),
		Recovered:     And(sets.Indeterminate, present).Count(),
		Vanished:      AndNot(sets.Indeterminate, present).Count(),
		Unexpected:    Or(And(sets.Rejected, present), AndNot(present, sets.Sent)).Count(),
		Duplicates:    duplicates,
		LostIDs:       lost,
	}
	c.Balanced = c.Sent == c.Acknowledged+c.Rejected+c.Indeterminate &&
		c.Present == c.Acknowledged-c.Lost+c.Recovered+c.Unexpected
	return c
}
