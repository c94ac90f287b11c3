package social

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"

	"replab.dev/internal/engine"
	"replab.dev/internal/password"
	"replab.dev/internal/wire"
)

// Writer does the app's writes, and sends no statement twice. Each method names the server that answered, by its hostname. An error other than
// an *engine.Rejection leaves open whether the write was committed.
type Writer interface {
	Register(ctx context.Context, user engine.NewUser) (userID uint64, node string, err error)
	Update(ctx context.Context, userID uint64, biography string) (node string, err error) // engine.ErrNoUser
	Probe(ctx context.Context, id uint64, payload []byte) (node string, err error)
	// Ping asks the write endpoint for an answer.
	Ping(ctx context.Context) error
}

// Reader does the app's reads. Every method names the server that answered, "" when none did.
type Reader interface {
	Profile(ctx context.Context, userID uint64) (profile wire.Profile, node string, err error)     // engine.ErrNoUser
	PasswordHash(ctx context.Context, userID uint64) (hash []byte, node string, err error)         // engine.ErrNoUser
	Search(ctx context.Context, first, last string) (found []wire.Profile, node string, err error) // by prefixes
}

// Store is the database as the app needs it.
type Store interface {
	Writer
	Reader
	// Collectors are the store's own figures, for dashboards.
	Collectors() []prometheus.Collector
	Close() error
}

// Open returns a store on the endpoints of cfg, and need not connect yet.
type Open func(cfg wire.SocialConfig, password string) (Store, error)

// Opens makes an engine's constructor an Open. The result means nothing beside an error.
func Opens[S Store](open func(wire.SocialConfig, string) (S, error)) Open {
	return func(cfg wire.SocialConfig, password string) (Store, error) { return open(cfg, password) }
}

// app is the operations of the API.
type app struct {
	store  Store
	hasher password.Hasher
}

func (a *app) register(ctx context.Context, r *http.Request) answer {
	writeID, err := parseWriteID(r.Header.Get(wire.HeaderWriteID))
	if err != nil {
		return invalid(err)
	}
	var request wire.RegisterRequest
	if err := decode(r.Body, &request); err != nil {
		return invalid(err)
	}
	if err := checkRegistration(request, time.Now()); err != nil {
		return invalid(err)
	}
	hash, err := a.hasher.Of(request.Password)
	if err != nil {
		return invalid(fmt.Errorf("hash the password: %w", err))
	}
	id, node, err := a.store.Register(ctx, engine.NewUser{
		WriteID: writeID, FirstName: request.FirstName, LastName: request.LastName, Birthdate: request.Birthdate,
		Biography: request.Biography, City: request.City, PasswordHash: hash,
	})
	if err != nil {
		return failedWrite(node, err)
	}
	userID := strconv.FormatUint(id, 10)
	return answer{status: http.StatusOK, node: node, userID: userID, document: wire.RegisterResponse{UserID: userID}}
}

func (a *app) update(ctx context.Context, r *http.Request) answer {
	id, err := parseID(r.PathValue("id"))
	if err != nil {
		return invalid(err)
	}
	var request wire.UpdateRequest
	if err := decode(r.Body, &request); err != nil {
		return invalid(err)
	}
	if err := checkLength("biography", request.Biography, biographyCharacters); err != nil {
		return invalid(err)
	}
	node, err := a.store.Update(ctx, id, request.Biography)
	switch {
	case errors.Is(err, engine.ErrNoUser):
		return failedRead(node, err)
	case err != nil:
		return failedWrite(node, err)
	}
	return answer{status: http.StatusNoContent, node: node}
}

func (a *app) probe(ctx context.Context, r *http.Request) answer {
	id, err := parseID(r.PathValue("id"))
	if err != nil {
		return invalid(err)
	}
	payload, err := io.ReadAll(r.Body)
	if err != nil {
		return invalid(fmt.Errorf("read the body: %w", err))
	}
	node, err := a.store.Probe(ctx, id, payload)
	if err != nil {
		return failedWrite(node, err)
	}
	return answer{status: http.StatusNoContent, node: node}
}

func (a *app) login(ctx context.Context, r *http.Request) answer {
	var request wire.LoginRequest
	if err := decode(r.Body, &request); err != nil {
		return invalid(err)
	}
	id, err := parseID(request.ID)
	if err != nil {
		return invalid(err)
	}
	hash, node, err := a.store.PasswordHash(ctx, id)
	if err != nil {
		return failedRead(node, err)
	}
	right, err := password.Matches(hash, request.Password)
	switch {
	case err != nil:
		return failure(http.StatusInternalServerError, fmt.Errorf("the stored password of user %d cannot be compared: %w", id, err)).from(node)
	case !right:
		return failure(http.StatusUnauthorized, errors.New("wrong password")).from(node)
	}
	return answer{status: http.StatusOK, node: node, document: wire.LoginResponse{Token: rand.Text()}}
}

func (a *app) profile(ctx context.Context, r *http.Request) answer {
	id, err := parseID(r.PathValue("id"))
	if err != nil {
		return invalid(err)
	}
	profile, node, err := a.store.Profile(ctx, id)
	if err != nil {
		return failedRead(node, err)
	}
	return answer{status: http.StatusOK, node: node, document: profile}
}

func (a *app) search(ctx context.Context, r *http.Request) answer {
	query := r.URL.Query()
	first, last := query.Get("first_name"), query.Get("last_name")
	if first == "" && last == "" {
		return invalid(errors.New("first_name or last_name is needed: the beginning of a name"))
	}
	if err := errors.Join(checkLength("first_name", first, nameCharacters), checkLength("last_name", last, nameCharacters)); err != nil {
		return invalid(err)
	}
	found, node, err := a.store.Search(ctx, first, last)
	if err != nil {
		return failedRead(node, err)
	}
	return answer{status: http.StatusOK, node: node, document: found}
}

// decode reads exactly one JSON document. Fields that the API does not know are ignored.
func decode(body io.Reader, into any) error {
	d := json.NewDecoder(body)
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("the body is not the JSON object that is expected: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("the body has more than one JSON object")
	}
	return nil
}

// Limits of a registration: those of the columns.
const (
	nameCharacters      = 256
	biographyCharacters = 1024
	cityCharacters      = 256
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
	if len(value) < 1 || len(value) > password.MaxBytes {
		return fmt.Errorf("password has %d bytes: it must have 1 to %d", len(value), password.MaxBytes)
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
