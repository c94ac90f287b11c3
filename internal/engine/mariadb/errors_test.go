package mariadb

import (
	"errors"
	"testing"

	driver "github.com/go-sql-driver/mysql"

	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

// TestWhatIsOpenStaysOpen: an error in the midst of a commit may have left the write behind, here or on another member.
func TestWhatIsOpenStaysOpen(t *testing.T) {
	for number, want := range map[uint16]string{
		1290: wire.RejectedReadOnly, 1792: wire.RejectedReadOnly, 1213: wire.RejectedDeadlock, 1205: wire.RejectedDeadlock, 1406: wire.RejectedValidation,
		1047: "", 1180: "", 1598: "", 1950: "", 1053: "", 1317: "", 1927: "", 1969: "", 1105: "", 1114: "", 1020: "", 4999: "",
	} {
		reason := ""
		var r *engine.Rejection
		if errors.As(refusals.Rejection(&driver.MySQLError{Number: number}, nil), &r) {
			reason = r.Reason
		}
		if reason != want {
			t.Errorf("error %d is rejected as %q, want %q", number, reason, want)
		}
	}
	taken := &driver.MySQLError{Number: 1062, Message: "Duplicate entry '7' for key 'write_id'"}
	var r *engine.Rejection
	if errors.As(refusals.Rejection(taken, nil), &r) {
		t.Error("a write id that is taken is in the table: the write must not be called rejected")
	}
	taken.Message = "Duplicate entry '7' for key 'PRIMARY'"
	if !errors.As(refusals.Rejection(taken, nil), &r) || r.Reason != wire.RejectedRefused {
		t.Error("a generated id that is taken is a refusal")
	}
}
