package mariadb

// Refusals are which errors of a write are rejections.
var Refusals = refusals

// Misname has the probe take a write for another transaction.
func (l *Lag) Misname(write uint64, name string) { l.Group.Names.Begin(write, name) }
