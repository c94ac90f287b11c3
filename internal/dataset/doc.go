// Package dataset makes up the users that a test database is filled with. A user follows from the seed, the locale and
// the user's index alone: it does not depend on the order of the calls, on the machine or on the Go release, so that two
// runs with one seed compare the same rows.
package dataset
