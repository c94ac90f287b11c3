// Package upstream is an HTTP/1.1 client for one address that sends every request at most once, and that tells apart
// what was certainly not sent.
//
// Neither net/http's client nor fasthttp's can promise both: whether they repeat a request depends on what it is and on what
// they think of a connection, and an error does not say if the request had left. A write that is silently sent twice, or a
// refused connection that counts as "perhaps committed", would be a wrong number. Here a request is one write on one
// connection, in the caller's goroutine, which is also what makes it cheap.
package upstream

import "fmt"

// NotSentError wraps the reason why no byte of a request reached the network.
type NotSentError struct{ Cause error }

func (e *NotSentError) Error() string { return fmt.Sprintf("nothing was sent: %v", e.Cause) }

// Unwrap returns the reason.
func (e *NotSentError) Unwrap() error { return e.Cause }

// MaxHeadBytes and MaxBodyBytes bound an answer.
const (
	MaxHeadBytes = 16 << 10
	MaxBodyBytes = 16 << 20
)
