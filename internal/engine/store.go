package engine

import "errors"

// NewUser is a checked registration.
type NewUser struct {
	WriteID      *uint64 // the ledger's, nil without one
	FirstName    string
	LastName     string
	Birthdate    string // YYYY-MM-DD, "" for none
	Biography    string
	City         string
	PasswordHash []byte
}

// ErrNoUser tells that there is no user with the id.
var ErrNoUser = errors.New("no such user")

// Rejection is the error of a write that the database certainly did not commit. Which errors are that, and which leave it
// open, is each engine's own knowledge.
type Rejection struct {
	Reason string // one of wire's Rejected constants
	Err    error
}

func (r *Rejection) Error() string { return r.Reason + ": " + r.Err.Error() }

func (r *Rejection) Unwrap() error { return r.Err }

// ErrPermanent marks errors that trying again does not cure, such as a missing right or rows that the server refuses.
var ErrPermanent = errors.New("permanent")

// Permanent marks err with ErrPermanent; its text stays.
func Permanent(err error) error { return permanent{err} }

type permanent struct{ error }

func (p permanent) Unwrap() []error { return []error{p.error, ErrPermanent} }
