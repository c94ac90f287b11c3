package witness

import (
	"encoding/json"
	"errors"
	"maps"
	"net"
	"net/http"
	"strconv"

	"replab.dev/internal/protocol"
	"replab.dev/internal/witness/upstream"
)

// answer is what a client gets. The zero answer stands for a handler that did not come to its end.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// answerOf relays the app's response, or says why there is none.
func answerOf(response *upstream.Response, err error) answer {
	if err == nil {
		return answer{status: response.Status, header: response.Header, body: response.Body}
	}
	var timeout net.Error
	switch {
	case notSent(err):
		a := refusal(http.StatusBadGateway, "the app cannot be reached: "+err.Error())
		a.header.Set(protocol.HeaderRejected, protocol.RejectedNotSent)
		return a
	case errors.As(err, &timeout) && timeout.Timeout():
		return refusal(http.StatusGatewayTimeout, "the app did not answer in time: "+err.Error())
	}
	return refusal(http.StatusBadGateway, "the app did not answer: "+err.Error())
}

func notSent(err error) bool {
	var e *upstream.NotSentError
	return errors.As(err, &e)
}

// refusal is an answer of the witness itself.
func refusal(status int, text string) answer {
	body, err := json.Marshal(protocol.ErrorResponse{Error: text})
	if err != nil { // a string always has a JSON form
		panic(err)
	}
	return answer{status: status, header: http.Header{"Content-Type": {"application/json"}}, body: body}
}

func (a answer) succeeded() bool { return successful(a.status) }

// relay writes the answer. A client that is gone does not matter any more: the outcome is recorded.
func (a answer) relay(w http.ResponseWriter) {
	maps.Copy(w.Header(), a.header)
	if a.status != http.StatusNoContent && a.status != http.StatusNotModified {
		w.Header()["Content-Length"] = []string{strconv.Itoa(len(a.body))}
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body)
}
