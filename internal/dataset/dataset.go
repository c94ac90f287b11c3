package dataset

import (
	"fmt"
	"math/bits"
	"time"
)

// User is one made-up person.
type User struct {
	FirstName string
	LastName  string
	Birthdate string // YYYY-MM-DD
	Biography string
	City      string
}

// Dataset is an endless list of users.
type Dataset struct {
	seed   uint64
	locale *locale
}

type locale struct {
	female, male people
	cities       []string
	biography    biography
}

// people are the names of one gender.
type people struct {
	first, last []string
	pronoun     string
}

type biography struct {
	sentence       func(p people, city, work, hobby, hobby2 string) string
	works, hobbies []string
}

// New returns the dataset of a seed in a locale: "en" or "ru".
func New(seed int64, localeName string) (*Dataset, error) {
	l, ok := map[string]*locale{"en": english, "ru": russian}[localeName]
	if !ok {
		return nil, fmt.Errorf("dataset: locale %q is not known; use en or ru", localeName)
	}
	return &Dataset{seed: uint64(seed), locale: l}, nil
}

// The birthdates lie in this range, whatever the day of the run is.
var (
	firstBirthdate = time.Date(1945, 1, 1, 0, 0, 0, 0, time.UTC)
	birthdateDays  = 365 * 60
)

// User returns the user of an index. Every index has one; databases use 1 and up.
func (d *Dataset) User(index int64) User {
	r := random{state: mix(d.seed) ^ mix(uint64(index)+goldenGamma)}
	p := d.locale.male
	if r.below(2) == 0 {
		p = d.locale.female
	}
	u := User{FirstName: r.of(p.first), LastName: r.of(p.last), City: r.of(d.locale.cities)}
	u.Birthdate = firstBirthdate.AddDate(0, 0, r.below(birthdateDays)).Format(time.DateOnly)
	b := d.locale.biography
	first := r.below(len(b.hobbies))
	second := (first + 1 + r.below(len(b.hobbies)-1)) % len(b.hobbies) // another one
	u.Biography = b.sentence(p, r.of(d.locale.cities), r.of(b.works), b.hobbies[first], b.hobbies[second])
	return u
}

// Lengths of the prefixes in characters: long enough that one surname, or a few, begin so.
const (
	firstNamePrefix = 3
	lastNamePrefix  = 4
)

// Prefixes returns n pairs of the beginnings of a first and a last name, for searches. They are those of the users 1 to
// n, so that every search finds someone in a database that has these.
func (d *Dataset) Prefixes(n int) [][2]string {
	out := make([][2]string, n)
	for i := range out {
		u := d.User(int64(i) + 1)
		out[i] = [2]string{prefix(u.FirstName, firstNamePrefix), prefix(u.LastName, lastNamePrefix)}
	}
	return out
}

func prefix(s string, characters int) string {
	for i := range s {
		if characters == 0 {
			return s[:i]
		}
		characters--
	}
	return s
}

// random is SplitMix64 (Steele, Lea, Flood 2014): a counter in even steps, mixed. It is written out here because a
// library's generator may change what a seed yields.
type random struct{ state uint64 }

const goldenGamma = 0x9E3779B97F4A7C15 // 2^64 divided by the golden ratio, made odd

func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// below returns a number from 0 to n-1, each equally likely up to n/2^64.
func (r *random) below(n int) int {
	r.state += goldenGamma
	high, _ := bits.Mul64(mix(r.state), uint64(n))
	return int(high)
}

func (r *random) of(list []string) string { return list[r.below(len(list))] }
