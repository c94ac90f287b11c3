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
	"time"

	"golang.org/x/crypto/bcrypt"

	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

// app is the operations of the API.
type app struct {
	store    Store
	hashCost int
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
	hash, err := bcrypt.GenerateFromPassword([]byte(request.Password), a.hashCost)
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
	switch err := bcrypt.CompareHashAndPassword(hash, []byte(request.Password)); {
	case err == nil:
		return answer{status: http.StatusOK, node: node, document: wire.LoginResponse{Token: rand.Text()}}
	case errors.Is(err, bcrypt.ErrMismatchedHashAndPassword), errors.Is(err, bcrypt.ErrPasswordTooLong):
		return failure(http.StatusUnauthorized, errors.New("wrong password")).from(node)
	default:
		return failure(http.StatusInternalServerError, fmt.Errorf("the stored password of user %d cannot be compared: %w", id, err)).from(node)
	}
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
	first, last := r.URL.Query().Get("first_name"), r.URL.Query().Get("last_name")
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
