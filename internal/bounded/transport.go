package bounded

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
)

// Transport makes HTTP requests whose answers are small JSON documents. An answer that may take more than Most bytes of memory is an error.
type Transport struct {
	Base http.RoundTripper
	Most int64
}

// RoundTrip implements http.RoundTripper.
func (t Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := t.Base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var text bytes.Buffer
	if _, err := io.Copy(io.MultiWriter(&meter{left: t.Most}, &text), response.Body); err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	response.Body = io.NopCloser(&text)
	return response, nil
}
