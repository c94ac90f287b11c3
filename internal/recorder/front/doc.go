// Package front is an HTTP/1.1 server for one handler that takes a request only when it has arrived whole, and that does
// nothing else on the way.
//
// net/http's server reads on while its handler runs, in a goroutine of its own for every request, to tell the handler of
// a client that goes away. The recorder has no use for that: a request that has gone on to the app runs to its end. Without
// it one goroutine reads, handles and answers, and each answer is one write, which saves a quarter of what the recorder
// costs the path that it is to measure. What is a request and what is none is still for net/http to say.
package front

import (
	"encoding/json"
	"net/http"

	"replab.dev/internal/wire"
)

// Handler answers a request. Its body has been read: body has all of it, and r.Body nothing more. It is called once for
// each request, and not for one that did not arrive whole.
type Handler func(r *http.Request, body []byte) Answer

// Answer is relayed as it is, with its length. The zero Answer stands for a handler that did not come to its end.
type Answer struct {
	Status int
	Header http.Header // without those that say where the answer ends, or what becomes of the connection
	Body   []byte
}

// Refusal is an answer of the server's own: a wire.ErrorResponse.
func Refusal(status int, text string) Answer {
	body, err := json.Marshal(wire.ErrorResponse{Error: text})
	if err != nil { // a string always has a JSON form
		panic(err)
	}
	return Answer{Status: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: body}
}

// Limits of a request, the head's to a buffer. A client that is above one gets an answer and no second request.
const (
	MaxHeadBytes = 1 << 20
	MaxBodyBytes = 1 << 20
)
