package social

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"replab.dev/internal/wire"
)

// Limits of a registration: those of the columns, and of bcrypt, which hashes 72 bytes at most.
const (
	nameCharacters      = 256
	biographyCharacters = 1024
	cityCharacters      = 256
	passwordBytes       = 72
	earliestBirthYear   = 1900
)

// checkRegistration says what is wrong with a registration, all of it. today bounds the birthdate.
func checkRegistration(r wire.RegisterRequest, today time.Time) error {
	return errors.Join(
		checkName("first_name", r.FirstName),
		checkName("second_name", r.LastName),
		checkBirthdate(r.Birthdate, today),
		checkLength("biography", r.Biography, biographyCharacters),
		checkLength("city", r.City, cityCharacters),
		checkPassword(r.Password),
	)
}

func checkName(field, value string) error {
	if strings.TrimSpace(value) == "" {
		return fmt.Errorf("%s is needed: 1 to %d characters", field, nameCharacters)
	}
	return checkLength(field, value, nameCharacters)
}

func checkLength(field, value string, most int) error {
	if n := utf8.RuneCountInString(value); n > most {
		return fmt.Errorf("%s has %d characters: at most %d are allowed", field, n, most)
	}
	return nil
}

func checkBirthdate(value string, today time.Time) error {
	if value == "" {
		return nil
	}
	born, err := time.Parse(time.DateOnly, value)
	if err != nil || born.Year() < earliestBirthYear || born.After(today) {
		return fmt.Errorf("birthdate is %q: it must be a day as YYYY-MM-DD, from %d-01-01 to today", shorten(value), earliestBirthYear)
	}
	return nil
}

func checkPassword(value string) error {
	if len(value) < 1 || len(value) > passwordBytes {
		return fmt.Errorf("password has %d bytes: it must have 1 to %d", len(value), passwordBytes)
	}
	return nil
}

// parseID reads a user's id.
func parseID(s string) (uint64, error) {
	id, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("id is %q: it must be a whole number", shorten(s))
	}
	return id, nil
}

// parseWriteID reads HeaderWriteID: nil when it is absent.
func parseWriteID(header string) (*uint64, error) {
	if header == "" {
		return nil, nil
	}
	id, err := strconv.ParseUint(header, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("header %s is %q: it must be a whole number", wire.HeaderWriteID, shorten(header))
	}
	return &id, nil
}

// shorten bounds what an error repeats of a request.
func shorten(s string) string {
	const most = 40
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "…"
}
