package bounded

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestAnswersAreBounded(t *testing.T) {
	answer := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, answer) }))
	t.Cleanup(server.Close)
	client := &http.Client{Transport: Transport{http.DefaultTransport, 10_000}}
	for text, fits := range map[string]bool{
		"": true, `{"a":1}`: true, strings.Repeat(" ", 3_333): true, strings.Repeat(" ", 3_334): false, "[" + strings.Repeat("{},", 20) + "{}]": false,
	} {
		answer = text
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(request)
		if !fits && !errors.Is(err, ErrTooLarge) || fits && err != nil {
			t.Errorf("%.20q of %d bytes: %v", text, len(text), err)
		}
		if err != nil {
			continue
		}
		if read, err := io.ReadAll(response.Body); err != nil || string(read) != text {
			t.Errorf("%.20q is read as %.20q, %v", text, read, err)
		}
		response.Body.Close()
	}
}
