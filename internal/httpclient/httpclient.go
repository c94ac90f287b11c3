// Package httpclient makes the short HTTP requests by which replab's processes ask each other for something.
package httpclient

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
)

const (
	bodyMost  = 4 << 20
	errorMost = 500 // of a refusal's text
)

// Client returns a client that follows no redirect: a process is where it is, and one that sends a token elsewhere is none of ours.
func Client(t http.RoundTripper) *http.Client {
	return &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// Minimal is the preference for an answer without a body.
const Minimal = "return=minimal"

// Request to a process.
type Request struct {
	Method, URL string
	Token       string // "": the request needs none
	Body        []byte // JSON
	Minimal     bool   // no body is wanted: RFC 7240, return=minimal
}

// Refusal is an answer other than 2xx.
type Refusal struct {
	Code int // HTTP status
	text string
}

func (r *Refusal) Error() string { return r.text }

// Do returns the body of a 2xx answer. Any other is a Refusal with what the process said.
func Do(ctx context.Context, client *http.Client, r Request) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, r.Method, r.URL, bytes.NewReader(r.Body))
	if err != nil {
		return nil, err
	}
	if r.Token != "" {
		request.Header.Set("Authorization", "Bearer "+r.Token)
	}
	if len(r.Body) > 0 {
		request.Header.Set("Content-Type", "application/json")
	}
	if r.Minimal {
		request.Header.Set("Prefer", Minimal)
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, bodyMost+1))
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", r.Method, r.URL, err)
	}
	if len(body) > bodyMost {
		return nil, fmt.Errorf("%s %s: the answer has more than %d bytes", r.Method, r.URL, bodyMost)
	}
	if response.StatusCode/100 != 2 {
		said := strings.TrimSpace(string(body[:min(len(body), errorMost)]))
		return nil, &Refusal{Code: response.StatusCode, text: fmt.Sprintf("%s %s: %s: %s", r.Method, r.URL, response.Status, said)}
	}
	return body, nil
}
