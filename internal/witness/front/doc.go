// Package front is an HTTP/1.1 server for one handler that takes a request only when it has arrived whole, and that does
// nothing else on the way.
//
// net/http's server reads on while its handler runs, in a goroutine of its own for every request, to tell the handler of
// a client that goes away. The witness has no use for that: a request that has gone on to the app runs to its end. Without
// it one goroutine reads, handles and answers, and each answer is one write. What is a request and what is none is for
// fasthttp to say, whose requests and answers live as long as their connection: nothing is allocated on the way.
package front

import (
	"encoding/json"

	"github.com/valyala/fasthttp"

	"replab.dev/internal/protocol"
)

// Handler answers a request by filling a, which is empty. It is called once for each request, with all of its body, and not
// for one that did not arrive whole. Both are its own only until it returns.
type Handler func(r *fasthttp.Request, a *fasthttp.Response)

// Refuse makes the answer one of the server's own: a protocol.ErrorResponse.
func Refuse(a *fasthttp.Response, status int, text string) {
	body, err := json.Marshal(protocol.ErrorResponse{Error: text})
	if err != nil { // a string always has a JSON form
		panic(err)
	}
	a.Reset()
	a.SetStatusCode(status)
	a.Header.SetContentType("application/json")
	a.SetBodyRaw(body)
}

// Limits of a request. A client that is above one gets an answer and no second request.
const (
	MaxHeadBytes = 16 << 10 // as HAProxy has it
	MaxBodyBytes = 1 << 20
)
