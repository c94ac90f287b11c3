package process

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

// shutdownTimeout is how long requests in flight may take once the process was told to stop; below Kubernetes' default
// grace of 30 s, so that what follows (results, the ledger) has time left.
const shutdownTimeout = 10 * time.Second

// Serve listens on server.Addr until ctx ends, then lets requests in flight finish. It returns nil after a graceful
// stop, and an error when it cannot listen or when requests were still running after 10 s. A server without a timeout
// for request headers gets one of 10 s.
func Serve(ctx context.Context, server *http.Server) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", server.Addr)
	if err != nil {
		return fmt.Errorf("serve HTTP: %w", err)
	}
	return ServeOn(ctx, listener, server)
}

// ServeOn is Serve on a listener that is already open. It closes the listener.
func ServeOn(ctx context.Context, listener net.Listener, server *http.Server) error {
	if server.ReadHeaderTimeout == 0 {
		server.ReadHeaderTimeout = 10 * time.Second
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		err := server.Serve(listener)
		if errors.Is(err, http.ErrServerClosed) {
			return nil
		}
		return fmt.Errorf("serve HTTP on %s: %w", listener.Addr(), err)
	})
	group.Go(func() error {
		<-ctx.Done()
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
		defer cancel()
		if err := server.Shutdown(stop); err != nil {
			return errors.Join(fmt.Errorf("stop HTTP on %s: %w", listener.Addr(), err), server.Close())
		}
		return nil
	})
	return group.Wait()
}

// RequireToken lets a request through to next only if it carries `Authorization: Bearer <token>`; any other is answered
// 401. The comparison takes the same time whatever was sent. An empty token lets nobody through.
func RequireToken(token string, next http.Handler) http.Handler {
	want := sha256.Sum256([]byte(token)) // hashed: the comparison does not tell the length either
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		sum := sha256.Sum256([]byte(got))
		if !ok || token == "" || subtle.ConstantTimeCompare(sum[:], want[:]) != 1 {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "this request needs the experiment's bearer token", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}
