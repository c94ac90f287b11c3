// Package seed fills the users table before a run: `replab seed`. It streams rows that it makes up on the way, in
// transactions small enough for replicas to follow, and goes on where it stopped when it is started again.
package seed
