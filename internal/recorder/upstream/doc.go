// Package upstream is an HTTP/1.1 client for one address that sends every request at most once, and that tells apart
// what was certainly not sent.
//
// net/http's client cannot promise either: whether it repeats a request depends on its headers and on what it thinks
// of a connection, and an error of it does not say if the request had left. A write that is silently sent twice, or a
// refused connection that counts as "perhaps committed", would be a wrong number. Here a request is one write on one
// connection, in the caller's goroutine, which is also what makes it cheap.
package upstream

import (
	"fmt"
	"net/http"
)

// Request is sent as it is, apart from headers that belong to one connection and from compression, which would be
// measured.
type Request struct {
	Method string
	Target string // path and query
	Header http.Header
	// ExtraName and ExtraValue are one more header, when ExtraName is not empty.
	ExtraName, ExtraValue string
	Body                  []byte
}

// Response is an answer that arrived whole.
type Response struct {
	Status int
	Header http.Header // without those that belong to one connection, and without the length
	Body   []byte
}

// NotSentError wraps the reason why no byte of a request reached the network.
type NotSentError struct{ Cause error }

func (e *NotSentError) Error() string { return fmt.Sprintf("nothing was sent: %v", e.Cause) }

// Unwrap returns the reason.
func (e *NotSentError) Unwrap() error { return e.Cause }

// MaxResponseBytes bounds the body of an answer.
const MaxResponseBytes = 16 << 20

// perConnection are headers that one hop says to the next, see RFC 9110 section 7.6.1, and those that would change how
// the answer is encoded or framed.
var perConnection = map[string]bool{
	"Connection": true, "Proxy-Connection": true, "Keep-Alive": true, "Proxy-Authenticate": true,
	"Proxy-Authorization": true, "Te": true, "Trailer": true, "Transfer-Encoding": true, "Upgrade": true,
	"Content-Length": true, "Host": true, "Expect": true, "Accept-Encoding": true,
}
