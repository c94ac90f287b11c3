// Package social is the social app that experiments drive: `replab social`, an HTTP API over the users table. It is part
// of the system under test, so it behaves as a well-made app does, with one promise more: it never sends a write twice,
// and it says so (HeaderRejected) only when a failed write certainly left nothing in the database.
package social
