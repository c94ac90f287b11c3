package recorder

import (
	"errors"
	"maps"
	"net"
	"net/http"

	"replab.dev/internal/recorder/front"
	"replab.dev/internal/recorder/upstream"
	"replab.dev/internal/wire"
)

// answerOf relays the app's response, or says why there is none.
func answerOf(response *upstream.Response, err error) front.Answer {
	if err == nil {
		return front.Answer{Status: response.Status, Header: response.Header, Body: response.Body}
	}
	var timeout net.Error
	switch {
	case notSent(err):
		a := front.Refusal(http.StatusBadGateway, "the app cannot be reached: "+err.Error())
		a.Header.Set(wire.HeaderRejected, wire.RejectedNotSent)
		return a
	case errors.As(err, &timeout) && timeout.Timeout():
		return front.Refusal(http.StatusGatewayTimeout, "the app did not answer in time: "+err.Error())
	}
	return front.Refusal(http.StatusBadGateway, "the app did not answer: "+err.Error())
}

func notSent(err error) bool {
	var e *upstream.NotSentError
	return errors.As(err, &e)
}

// refuse answers on the control port.
func refuse(w http.ResponseWriter, status int, text string) {
	a := front.Refusal(status, text)
	maps.Copy(w.Header(), a.Header)
	w.WriteHeader(a.Status)
	_, _ = w.Write(a.Body) // a client that is gone needs no answer
}
