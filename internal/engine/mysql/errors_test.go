package mysql

import (
	"context"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"io"
	"testing"

	driver "github.com/go-sql-driver/mysql"

	"replab.dev/internal/engine"
)

func TestRejection(t *testing.T) {
	refused := func(number uint16, message string) error {
		return &driver.MySQLError{Number: number, Message: message}
	}
	for _, c := range []struct {
		name string
		err  error
		want string // "" for an open end
	}{
		{"a connection that failed before sending", sqldriver.ErrBadConn, "not-sent"},
		{"super_read_only", refused(1290, "The MySQL server is running with the --super-read-only option"), "read-only"},
		{"read-only mode", refused(1836, "Running in read-only mode"), "read-only"},
		{"a group without majority", refused(3100, "Error on observer while running replication hook 'before_commit'."), "read-only"},
		{"a deadlock", refused(1213, "Deadlock found when trying to get lock"), "deadlock"},
		{"a lock wait timeout, which rolls back the statement", refused(1205, "Lock wait timeout exceeded"), "deadlock"},
		{"a value that is too long", refused(1406, "Data too long for column 'city' at row 1"), "validation"},
		{"a missing table", refused(1146, "Table 'social.users' doesn't exist"), "refused"},
		{"a generated id that is taken", refused(1062, "Duplicate entry '7' for key 'users.PRIMARY'"), "refused"},
		{"a generated id that is taken, as forks word it", refused(1062, "Duplicate entry '7' for key 'PRIMARY'"), "refused"},
		{"a write id that is taken: the write is in the table", refused(1062, "Duplicate entry '7' for key 'users.write_id'"), ""},
		{"a probe's id that is taken", refused(1062, "Duplicate entry '7' for key 'probe_writes.PRIMARY'"), ""},
		{"an interrupted query", refused(1317, "Query execution was interrupted"), ""},
		{"an exceeded execution time", refused(3024, "maximum statement execution time exceeded"), ""},
		{"an error during COMMIT", refused(1180, "Got error 149 during COMMIT"), ""},
		{"a member that is cut off, maybe in the midst of a commit", refused(1047, "WSREP has not yet prepared node for application use"), ""},
		{"a server that shuts down", refused(1053, "Server shutdown in progress"), ""},
		{"an error nobody has listed", refused(4999, "?"), ""},
		{"a proxy's error after which nothing was sent", refused(9001, "Max connect timeout reached"), "not-sent"},
		{"another error of the proxy", refused(9002, "?"), ""},
		{"a lost connection", driver.ErrInvalidConn, ""},
		{"an end of file", io.ErrUnexpectedEOF, ""},
		{"a timeout", context.DeadlineExceeded, ""},
		{"a wrapped refusal", fmt.Errorf("exec: %w", refused(1290, "")), "read-only"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var r *engine.Rejection
			reason := ""
			if err := refusals.Rejection(c.err, []uint16{9001}); errors.As(err, &r) {
				reason = r.Reason
			} else if !errors.Is(err, c.err) {
				t.Fatalf("the error became %v", err)
			}
			if reason != c.want {
				t.Fatalf("reason is %q, want %q", reason, c.want)
			}
		})
	}
}
