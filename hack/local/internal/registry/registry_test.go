package registry

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestAnswers(t *testing.T) {
	for status, want := range map[int]bool{http.StatusOK: true, http.StatusUnauthorized: true, http.StatusForbidden: false, http.StatusBadGateway: false} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		if got := answers(server.URL); got != want {
			t.Errorf("status %d: got %v", status, got)
		}
		server.Close()
		if answers(server.URL) {
			t.Error("nobody listens, and it answers")
		}
	}
}
