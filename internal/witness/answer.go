package witness

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/valyala/fasthttp"

	"replab.dev/internal/protocol"
	"replab.dev/internal/witness/front"
	"replab.dev/internal/witness/upstream"
)

// explain makes the answer say why there is none of the app.
func explain(a *fasthttp.Response, err error) {
	var timeout interface{ Timeout() bool }
	switch {
	case notSent(err):
		front.Refuse(a, http.StatusBadGateway, "the app cannot be reached: "+err.Error())
		a.Header.Set(protocol.HeaderRejected, protocol.RejectedNotSent)
	case errors.As(err, &timeout) && timeout.Timeout():
		front.Refuse(a, http.StatusGatewayTimeout, "the app did not answer in time: "+err.Error())
	default:
		front.Refuse(a, http.StatusBadGateway, "the app did not answer: "+err.Error())
	}
}

func notSent(err error) bool {
	var e *upstream.NotSentError
	return errors.As(err, &e)
}

// refuse answers on the control port.
func refuse(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(protocol.ErrorResponse{Error: text}) // a client that is gone needs no answer
}
