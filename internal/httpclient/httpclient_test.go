package httpclient

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestDo(t *testing.T) {
	var got http.Request
	mux := http.NewServeMux()
	mux.HandleFunc("POST /good", func(w http.ResponseWriter, r *http.Request) {
		got = *r
		w.WriteHeader(http.StatusAccepted)
		_, _ = io.Copy(w, r.Body)
	})
	mux.HandleFunc("/bad", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, strings.Repeat("no ", 1000), http.StatusConflict)
	})
	mux.HandleFunc("/away", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/good", http.StatusPermanentRedirect)
	})
	s := httptest.NewServer(mux)
	defer s.Close()
	client := Client(http.DefaultTransport)

	body, err := Do(t.Context(), client, Request{Method: "POST", URL: s.URL + "/good", Token: "t", Body: []byte(`{}`)})
	if err != nil || string(body) != "{}" || got.Header.Get("Authorization") != "Bearer t" || got.Header.Get("Content-Type") != "application/json" {
		t.Errorf("answered %q, %v; asked with %v", body, err, got.Header)
	}
	got = http.Request{}
	for path, want := range map[string]string{"/bad": "409 Conflict: no no", "/away": "308 Permanent Redirect", "/none": "404"} {
		if _, err := Do(t.Context(), client, Request{Method: "POST", URL: s.URL + path, Token: "t"}); err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 700 {
			t.Errorf("%s: %v, want an error with %q", path, err, want)
		}
	}
	if got.Header != nil {
		t.Error("it followed a redirect")
	}
}
