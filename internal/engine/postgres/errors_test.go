package postgres_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/postgres"
	"replab.dev/internal/wire"
)

// open is the outcome of a write of which nobody knows.
const open = "open"

// sqlStates are the errors of a write with severity ERROR, and what each of them means.
var sqlStates = map[string]string{
	"25006": wire.RejectedReadOnly,
	"40001": wire.RejectedDeadlock, "40P01": wire.RejectedDeadlock, "55P03": wire.RejectedDeadlock,
	"22001": wire.RejectedValidation, "22003": wire.RejectedValidation, "22007": wire.RejectedValidation, "22008": wire.RejectedValidation,
	"22021": wire.RejectedValidation, "22P02": wire.RejectedValidation, "22P05": wire.RejectedValidation,
	"23502": wire.RejectedValidation, "23514": wire.RejectedValidation,
	"42P01": wire.RejectedRefused, "42703": wire.RejectedRefused, "42501": wire.RejectedRefused, "42601": wire.RejectedRefused,
	"3F000": wire.RejectedRefused, "0A000": wire.RejectedRefused, "26000": wire.RejectedRefused,
	"57014": open,
	"53100": open, "53200": open, "53300": open, "54000": open, "58030": open, "XX000": open, "XX001": open,
	"40003": open, "25P01": open, "25P02": open, "25P03": open, "08006": open, "08P01": open,
	"57P01": open, "57P02": open, "57P03": open, "57P05": open,
}

func TestOnlyCleanErrorsAreRejections(t *testing.T) {
	for code, want := range sqlStates {
		for severity, want := range map[string]string{"ERROR": want, "FATAL": open, "PANIC": open} {
			b := &backend{answer: answers(refused(severity, code, ""), ready)}
			if severity != "ERROR" {
				b.answer = ends(refused(severity, code, ""))
			}
			if o := registerOnce(t, b); o != want {
				t.Errorf("%s %s is %s, want %s", severity, code, o, want)
			}
		}
	}
	told := slices.DeleteFunc(slices.Sorted(maps.Keys(sqlStates)), func(code string) bool { return sqlStates[code] == open })
	if known := slices.Sorted(maps.Keys(postgres.Rejections)); !slices.Equal(told, known) {
		t.Errorf("the store knows %v, this test %v", known, told)
	}
}

func TestTakenKeyRejectsOnlyServerMadeIDs(t *testing.T) {
	for constraint, want := range map[string]string{
		"users_pkey": wire.RejectedRefused, "users_write_id": open, "probe_writes_pkey": open, "": open,
	} {
		if o := registerOnce(t, &backend{answer: answers(refused("ERROR", "23505", constraint), ready)}); o != want {
			t.Errorf("a violation of %q is %s, want %s", constraint, o, want)
		}
	}
}

func TestAWriteIsAcknowledgedByTheEndOfItsTransactionAlone(t *testing.T) {
	const silent = "and then no more"
	warn := []pgproto3.BackendMessage{noticed("WARNING", "01000")}
	for name, c := range map[string]struct {
		answer func(*pgproto3.Backend, int, int) bool
		want   string
	}{
		"all of the answer":                        {answers(append(slices.Clone(inserted), ready)...), ""},
		"the row and no end":                       {ends(inserted[:3]...), open},
		"the statement's end and not the commit's": {ends(inserted...), open},
		"nothing":                                   {ends(), open},
		"an error at the commit":                    {answers(append(slices.Clone(inserted), refused("ERROR", "40001", ""), ready)...), wire.RejectedDeadlock},
		"an end by force at the commit":             {ends(append(slices.Clone(inserted), refused("FATAL", "57P01", ""))...), open},
		"a warning before the row":                  {answers(slices.Concat(warn, inserted, []pgproto3.BackendMessage{ready})...), open},
		"a warning at the commit":                   {answers(slices.Concat(inserted, warn, []pgproto3.BackendMessage{ready})...), open},
		"a warning at the commit, and no end":       {ends(slices.Concat(inserted, warn)...), open},
		"a notice that is none":                     {answers(slices.Concat(inserted, []pgproto3.BackendMessage{noticed("NOTICE", "00000"), ready})...), ""},
		"nothing of an answer, " + silent:           {answers(), open},
		"the statement's end, " + silent:            {answers(inserted...), open},
		"a warning and an error that rolls it back": {answers(append(warn, refused("ERROR", "40P01", ""), ready)...), wire.RejectedDeadlock},
	} {
		t.Run(name, func(t *testing.T) {
			b := &backend{answer: c.answer}
			atMost := long
			if strings.HasSuffix(name, silent) {
				atMost = time.Second // by which it was sent, also on a busy machine
			}
			if _, o := storeOn(t, startBackend(t, b), 1).registerWithin(atMost); o != c.want {
				t.Errorf("the write is %q, want %q", o, c.want)
			}
			if _, statements := b.counts(); statements != 1 {
				t.Errorf("the statement was sent %d times", statements)
			}
		})
	}
}

func TestAWarningIsThatOfItsOwnWrite(t *testing.T) {
	b := &backend{answer: func(c *pgproto3.Backend, statement, _ int) bool {
		messages := slices.Clone(inserted)
		if statement == 1 {
			messages = append(messages, noticed("WARNING", "01000"))
		}
		send(c, append(messages, ready)...)
		return true
	}}
	s := storeOn(t, startBackend(t, b), 1)
	if _, o := s.register(); o != open {
		t.Errorf("the write with the warning is %q", o)
	}
	if _, o := s.register(); o != "" {
		t.Errorf("the next one is %q", o)
	}
	if connections, _ := b.counts(); connections != 1 {
		t.Errorf("%d connections: this one had nothing wrong", connections)
	}
}

// store is a store and what a test asks it.
type store struct {
	*postgres.Store
	t *testing.T
}

func storeOn(t *testing.T, e wire.Endpoint, connections int) store {
	t.Helper()
	s, err := postgres.NewStore(wire.SocialConfig{Writes: e, Reads: e, MaxConnections: connections, RequestTimeoutMilliseconds: long.Milliseconds()}, "secret")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return store{s, t}
}

// registerOnce is what a new store says of a write on a backend.
func registerOnce(t *testing.T, b *backend) string {
	t.Helper()
	_, outcome := storeOn(t, startBackend(t, b), 1).register()
	return outcome
}

func (s store) register() (node, outcome string) { return s.registerWithin(long) }

// long is for what answers.
const long = time.Minute

// registerWithin returns the node and how a write ended: "" when it was acknowledged, the reason of a rejection, or open.
func (s store) registerWithin(atMost time.Duration) (node, outcome string) {
	ctx, cancel := context.WithTimeout(s.t.Context(), atMost)
	defer cancel()
	_, node, err := s.Register(ctx, engine.NewUser{FirstName: "Ada", LastName: "Stone", PasswordHash: []byte("hash")})
	return node, outcomeOf(err)
}

func outcomeOf(err error) string {
	var r *engine.Rejection
	switch {
	case err == nil:
		return ""
	case errors.As(err, &r):
		return r.Reason
	case strings.Contains(err.Error(), "secret"):
		return "told the password"
	}
	return open
}
