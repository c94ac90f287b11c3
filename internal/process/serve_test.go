package process

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestServeLetsARequestInFlightFinish(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	arrived, answer := make(chan struct{}), make(chan struct{})
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(arrived)
		<-answer
		_, _ = io.WriteString(w, "done")
	})}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	shuttingDown := make(chan struct{})
	server.RegisterOnShutdown(func() { close(shuttingDown) })
	ended := make(chan error, 1)
	go func() { ended <- ServeOn(ctx, listener, server) }()

	body := make(chan string, 1)
	go func() {
		r, err := http.Get("http://" + listener.Addr().String())
		if err != nil {
			body <- err.Error()
			return
		}
		defer r.Body.Close()
		text, _ := io.ReadAll(r.Body)
		body <- string(text)
	}()
	<-arrived
	stop()
	<-shuttingDown
	close(answer)
	if got := <-body; got != "done" {
		t.Fatalf("the request in flight got %q", got)
	}
	if err := <-ended; err != nil {
		t.Fatalf("a graceful stop is no error, got %v", err)
	}
}

func TestServeSaysThatItCannotListen(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if err := Serve(t.Context(), &http.Server{Addr: listener.Addr().String()}); err == nil {
		t.Fatal("serving on a port that is taken must fail")
	}
}

func TestRequireToken(t *testing.T) {
	for _, c := range []struct {
		name, token, header string
		want                int
	}{
		{"the token lets through", "secret", "Bearer secret", 200},
		{"another token does not", "secret", "Bearer secre", 401},
		{"no header does not", "secret", "", 401},
		{"the bare token does not", "secret", "secret", 401},
		{"an empty token lets nobody through", "", "Bearer ", 401},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := RequireToken(c.token, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
			r := httptest.NewRequest("POST", "/fence", nil)
			if c.header != "" {
				r.Header.Set("Authorization", c.header)
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != c.want {
				t.Fatalf("answered %d, want %d", w.Code, c.want)
			}
		})
	}
}
