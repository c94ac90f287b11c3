// Package process holds what every subcommand of replab does in the same way: it loads its configuration, reads its
// secrets, serves HTTP until it is told to stop, asks for a token, and publishes what it found in its ConfigMap.
package process

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
)

// Context ends at the first SIGTERM or SIGINT. A second signal ends the process at once, as it would without replab.
func Context() (context.Context, context.CancelFunc) {
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	context.AfterFunc(ctx, cancel)
	return ctx, cancel
}

// Logger writes text (logfmt) to stderr, the only log of a replab process.
func Logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, nil))
}

// Command returns the subcommand `replab <name> --config FILE`, which loads a configuration of type C and calls run
// with it. The context ends at SIGTERM or SIGINT; run then stops gracefully and returns nil.
func Command[C any](name, short string, run func(ctx context.Context, cfg C) error) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:           name + " --config FILE",
		Short:         short,
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(*cobra.Command, []string) error {
			slog.SetDefault(Logger())
			var cfg C
			if err := LoadConfig(file, &cfg); err != nil {
				return err
			}
			ctx, cancel := Context()
			defer cancel()
			return run(ctx, cfg)
		},
	}
	cmd.Flags().StringVar(&file, "config", "", "JSON configuration file")
	if err := cmd.MarkFlagRequired("config"); err != nil {
		panic(err) // the flag was defined in the line above
	}
	return cmd
}

// LoadConfig reads the JSON document at path into cfg, a pointer. An unknown field and anything after the document are
// errors: a setting that is silently ignored would be measured as if it had been applied.
func LoadConfig(path string, cfg any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("load configuration: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(cfg); err != nil {
		return fmt.Errorf("load configuration %s: %w", path, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("load configuration %s: there is more after the document; the file must hold exactly one", path)
	}
	return nil
}

// Secret reads the file name in dir, such as an account's password or the token. One newline at the end does not
// belong to it. An empty secret is an error: it would let everybody in.
func Secret(dir, name string) (string, error) {
	path := filepath.Join(dir, name)
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read secret: %w", err)
	}
	secret := strings.TrimSuffix(string(text), "\n")
	if secret == "" {
		return "", fmt.Errorf("read secret %s: the file is empty", path)
	}
	return secret, nil
}

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
