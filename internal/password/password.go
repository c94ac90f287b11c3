// Package password hashes the passwords of the social app's users.
package password

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"

	"golang.org/x/crypto/bcrypt"

	"replab.dev/api/v1alpha1"
)

// MaxBytes of a password: bcrypt hashes no more.
const MaxBytes = 72

const (
	saltBytes = 16
	// leastCost of bcrypt, and the default.
	leastCost = bcrypt.MinCost
	mostCost  = 15
)

// sha256Prefix marks a salted SHA-256: the prefix, the salt, "$", and the SHA-256 of the salt and the password, both in base64 without padding.
var sha256Prefix = []byte("$sha256$")

var encoding = base64.RawStdEncoding

// Hasher hashes passwords. Cost is bcrypt's, 4 to 15; 0 is the least. A SHA-256 has none.
type Hasher struct {
	Hash v1alpha1.PasswordHash
	Cost int
}

// Check that the hasher can hash.
func (h Hasher) Check() error {
	switch {
	case h.Hash != v1alpha1.PasswordSHA256 && h.Hash != v1alpha1.PasswordBcrypt:
		return fmt.Errorf("passwordHash is %q: it must be %s or %s", h.Hash, v1alpha1.PasswordSHA256, v1alpha1.PasswordBcrypt)
	case h.Cost != 0 && (h.Cost < leastCost || h.Cost > mostCost):
		return fmt.Errorf("passwordHashCost is %d: it must be %d to %d", h.Cost, leastCost, mostCost)
	}
	return nil
}

// Of a password, with a salt of its own.
func (h Hasher) Of(password string) ([]byte, error) {
	if h.Hash == v1alpha1.PasswordBcrypt {
		return bcrypt.GenerateFromPassword([]byte(password), max(h.Cost, leastCost))
	}
	salt := make([]byte, saltBytes)
	_, _ = rand.Read(salt) // it never fails
	sum := salted(salt, password)
	hash := encoding.AppendEncode(bytes.Clone(sha256Prefix), salt)
	return encoding.AppendEncode(append(hash, '$'), sum[:]), nil
}

// Matches tells whether a hash, of either kind, is that of a password. The error says that it is no hash.
func Matches(hash []byte, password string) (bool, error) {
	encoded, ok := bytes.CutPrefix(hash, sha256Prefix)
	if !ok {
		err := bcrypt.CompareHashAndPassword(hash, []byte(password))
		if errors.Is(err, bcrypt.ErrMismatchedHashAndPassword) || errors.Is(err, bcrypt.ErrPasswordTooLong) {
			return false, nil
		}
		return err == nil, err
	}
	salt, sum, _ := bytes.Cut(encoded, []byte("$"))
	salt, badSalt := encoding.AppendDecode(nil, salt)
	sum, badSum := encoding.AppendDecode(nil, sum)
	if badSalt != nil || badSum != nil || len(sum) != sha256.Size {
		return false, errors.New("not a salted SHA-256")
	}
	want := salted(salt, password)
	return subtle.ConstantTimeCompare(sum, want[:]) == 1, nil
}

func salted(salt []byte, password string) [sha256.Size]byte {
	return sha256.Sum256(append(salt[:len(salt):len(salt)], password...))
}
