// Package process has what all subcommands of replab share: configuration, secrets, HTTP servers, tokens, and their ConfigMap.
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

// Command returns the subcommand `replab <name> --config FILE`. run gets the configuration, and a context that ends at SIGTERM or SIGINT.
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

// LoadConfig reads the JSON document at path into cfg, a pointer. Unknown fields are errors: an ignored setting would be measured as if applied.
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

// Secret reads the file name in dir, without a newline at its end. An empty secret is an error: it would admit everybody.
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

// shutdownTimeout is how long requests in flight may take at a stop. It is below Kubernetes' grace of 30 s, so that results can still be written.
const shutdownTimeout = 10 * time.Second

// Serve listens on server.Addr until ctx ends, and then for shutdownTimeout until requests in flight end. The default timeout of request headers is
// 10 s.
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

// RequireToken passes requests with `Authorization: Bearer <token>` to next, and answers others 401. An empty token admits nobody.
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
