package social

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

// answer is what an operation answers: status, headers and a document, nil for none.
type answer struct {
	status   int
	node     string // server that answered the query, "" for none
	rejected string // one of wire's Rejected constants, on a write that certainly was not committed
	userID   string // of a registered user
	document any
	err      error // why it failed; for the log where it is not the client's fault
}

// send writes the answer.
func (a answer) send(w http.ResponseWriter) {
	for header, value := range map[string]string{
		wire.HeaderNode: a.node, wire.HeaderRejected: a.rejected, wire.HeaderUserID: a.userID,
	} {
		if value != "" {
			w.Header().Set(header, value)
		}
	}
	if a.document == nil {
		w.WriteHeader(a.status)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(a.status)
	_ = json.NewEncoder(w).Encode(a.document) // an error here is a client that has left
}

func failure(status int, err error) answer {
	return answer{status: status, document: wire.ErrorResponse{Error: err.Error()}, err: err}
}

// from names the server that answered the query.
func (a answer) from(node string) answer {
	a.node = node
	return a
}

// invalid answers a request that is wrong in itself, before anything was sent to the database.
func invalid(err error) answer {
	status := http.StatusBadRequest
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		status, err = http.StatusRequestEntityTooLarge, fmt.Errorf("the body is larger than %d bytes", tooLarge.Limit)
	}
	a := failure(status, err)
	a.rejected = wire.RejectedValidation
	return a
}

// failedWrite answers a write that the store could not do. Only a *engine.Rejection is marked as rejected.
func failedWrite(node string, err error) answer {
	var r *engine.Rejection
	if !errors.As(err, &r) {
		return failedRead(node, err)
	}
	status := http.StatusServiceUnavailable
	switch r.Reason {
	case wire.RejectedValidation:
		status = http.StatusBadRequest
	case wire.RejectedRefused:
		status = http.StatusInternalServerError
	}
	a := failure(status, err).from(node)
	a.rejected = r.Reason
	return a
}

// failedRead answers a query that failed, and a write with an open end.
func failedRead(node string, err error) answer {
	switch {
	case errors.Is(err, engine.ErrNoUser):
		return failure(http.StatusNotFound, err).from(node)
	case errors.Is(err, context.DeadlineExceeded):
		return failure(http.StatusGatewayTimeout, fmt.Errorf("the database did not answer in time: %w", err)).from(node)
	}
	return failure(http.StatusBadGateway, err).from(node)
}
