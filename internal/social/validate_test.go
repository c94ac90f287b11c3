package social

import (
	"strings"
	"testing"
	"time"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/wire"
)

func TestCheckRegistration(t *testing.T) {
	today := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name   string
		change func(*wire.RegisterRequest)
		want   string // part of the error; "" for none
	}{
		{"names and a password are enough", func(*wire.RegisterRequest) {}, ""},
		{"256 Cyrillic characters are a name", func(r *wire.RegisterRequest) { r.FirstName = strings.Repeat("ж", 256) }, ""},
		{"257 are not", func(r *wire.RegisterRequest) { r.FirstName = strings.Repeat("ж", 257) }, "first_name has 257 characters"},
		{"a first name is needed", func(r *wire.RegisterRequest) { r.FirstName = "" }, "first_name is needed"},
		{"blanks are no name", func(r *wire.RegisterRequest) { r.LastName = " \t" }, "second_name is needed"},
		{"a birthdate may be today", func(r *wire.RegisterRequest) { r.Birthdate = "2026-03-01" }, ""},
		{"it may not be tomorrow", func(r *wire.RegisterRequest) { r.Birthdate = "2026-03-02" }, "birthdate"},
		{"it must be a day of the calendar", func(r *wire.RegisterRequest) { r.Birthdate = "2001-02-29" }, "birthdate"},
		{"it must be a date", func(r *wire.RegisterRequest) { r.Birthdate = "yesterday" }, "YYYY-MM-DD"},
		{"it may not be before 1900", func(r *wire.RegisterRequest) { r.Birthdate = "1899-12-31" }, "1900-01-01"},
		{"a biography has 1024 characters at most", func(r *wire.RegisterRequest) { r.Biography = strings.Repeat("я", 1025) }, "biography"},
		{"a city has 256 characters at most", func(r *wire.RegisterRequest) { r.City = strings.Repeat("я", 257) }, "city"},
		{"a password is needed", func(r *wire.RegisterRequest) { r.Password = "" }, "password has 0 bytes"},
		{"a password of 72 bytes is taken", func(r *wire.RegisterRequest) { r.Password = strings.Repeat("я", 36) }, ""},
		{"73 bytes are too long for bcrypt", func(r *wire.RegisterRequest) { r.Password = strings.Repeat("a", 73) }, "72"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := wire.RegisterRequest{FirstName: "Ада", LastName: "Stone", Password: "pw"}
			c.change(&r)
			err := checkRegistration(r, today)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Fatalf("error is %v, want %q", err, c.want)
			}
		})
	}
}

func TestCheckConfiguration(t *testing.T) {
	good := wire.SocialConfig{Engine: "MySQL", PasswordHash: v1alpha1.PasswordSHA256, MaxConnections: 1, MaxInFlight: 1, RequestTimeoutMilliseconds: 1}
	if err := check(good); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		want   string
		change func(*wire.SocialConfig)
	}{
		{"passwordHash", func(c *wire.SocialConfig) { c.PasswordHash = "" }},
		{"passwordHashCost", func(c *wire.SocialConfig) { c.PasswordHashCost = 3 }},
		{"passwordHashCost", func(c *wire.SocialConfig) { c.PasswordHashCost = 16 }},
		{"maxConnections", func(c *wire.SocialConfig) { c.MaxConnections = 0 }},
		{"maxInFlight", func(c *wire.SocialConfig) { c.MaxInFlight = 0 }},
		{"requestTimeoutMilliseconds", func(c *wire.SocialConfig) { c.RequestTimeoutMilliseconds = 0 }},
	} {
		bad := good
		c.change(&bad)
		if err := check(bad); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error is %v, want one about %s", err, c.want)
		}
	}
}
