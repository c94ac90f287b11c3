package engine

import "errors"

// ErrPermanent marks errors that trying again does not cure, such as a missing right or rows that the server refuses.
var ErrPermanent = errors.New("permanent")

// Permanent marks err with ErrPermanent; its text stays.
func Permanent(err error) error { return permanent{err} }

type permanent struct{ error }

func (p permanent) Unwrap() []error { return []error{p.error, ErrPermanent} }
