// Package seed fills the users table before a run: `replab seed`. It streams rows that it makes up on the way, in
// transactions small enough for replicas to follow, and goes on where it stopped when it is started again.
package seed

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"

	"replab.dev/internal/dataset"
	"replab.dev/internal/engine"
	"replab.dev/internal/metrics"
	"replab.dev/internal/password"
	"replab.dev/internal/process"
	"replab.dev/internal/wire"
)

const (
	// chunkRows is the size of a transaction. Larger ones load no faster; a replica applies each as a whole and late.
	chunkRows = 50_000

	progressInterval = 5 * time.Second
	retryInterval    = time.Second
	// stallTimeout is how long no chunk may succeed before the seeding fails: a primary is being elected, say.
	stallTimeout = 2 * time.Minute
)

// Command returns `replab seed`. engines open the loader.
func Command(engines engine.Lookup[Open]) *cobra.Command {
	return process.Command("seed", "Fill the users table", func(ctx context.Context, cfg wire.SeedConfig) error {
		open, err := engines.For(cfg.Engine)
		if err != nil {
			return fmt.Errorf("seed: %w", err)
		}
		return Run(ctx, cfg, open)
	})
}

// Run loads the users 1 to cfg.Users, behind the last complete chunk of an earlier run. Broken connections and servers that take no writes are
// tried again for two minutes. It returns nil only when exactly these users are in the table.
func Run(ctx context.Context, cfg wire.SeedConfig, open Open) error {
	s, err := newSeeder(cfg, open)
	if err != nil {
		return fmt.Errorf("seed: %w", err)
	}
	defer s.loader.Close()
	shown, hide := context.WithCancel(ctx)
	defer hide()
	go metrics.Serve(shown, s.metrics())
	if err := s.run(ctx); err != nil {
		return fmt.Errorf("seed %d users through %s:%d: %w", cfg.Users, cfg.Writes.Host, cfg.Writes.Port, err)
	}
	return nil
}

// seeder loads one dataset into one database.
type seeder struct {
	loader       LoaderCloser
	data         *dataset.Dataset
	users        int64
	chunkRows    int64
	passwordHash string

	progress     progress
	done         atomic.Int64 // users known to be in the table
	retry, stall time.Duration
}

func newSeeder(cfg wire.SeedConfig, open Open) (*seeder, error) {
	if cfg.Users < 0 {
		return nil, fmt.Errorf("users is %d: it must not be negative", cfg.Users)
	}
	data, err := dataset.New(cfg.Seed, cfg.Locale)
	if err != nil {
		return nil, err
	}
	hash, err := password.Hasher{Hash: cfg.PasswordHash, Cost: cfg.PasswordHashCost}.Of(wire.SeededPassword)
	if err != nil {
		return nil, fmt.Errorf("hash the users' password: %w", err)
	}
	secret, err := process.Secret(cfg.SecretDir, wire.AccountApp)
	if err != nil {
		return nil, err
	}
	loader, err := open(cfg.Writes, secret)
	if err != nil {
		return nil, err
	}
	return &seeder{
		loader: loader, data: data, users: cfg.Users, chunkRows: chunkRows, passwordHash: string(hash),
		retry: retryInterval, stall: stallTimeout,
	}, nil
}

// run repeats attempt until it succeeds, fails for good, or nothing has moved for too long.
func (s *seeder) run(ctx context.Context) error {
	s.progress.begin(s.users, time.Now())
	moved, last := time.Now(), int64(-1)
	for {
		done, err := s.attempt(ctx)
		if err == nil {
			s.progress.finish(time.Now())
			return nil
		}
		if ctx.Err() != nil {
			return errors.Join(fmt.Errorf("stopped after user %d", done), context.Cause(ctx))
		}
		if done > last {
			moved, last = time.Now(), done
		}
		if isPermanent(err) || time.Since(moved) > s.stall {
			return fmt.Errorf("after user %d: %w", done, err)
		}
		slog.Warn("seeding was interrupted, trying again", "users", done, "error", err)
		select {
		case <-time.After(s.retry):
		case <-ctx.Done():
		}
	}
}

// attempt loads what is missing, chunk by chunk, and returns the last user known to be in the table.
func (s *seeder) attempt(ctx context.Context) (int64, error) {
	done, err := seeded(ctx, s.loader, s.data, s.users)
	if err != nil {
		return done, err
	}
	s.done.Store(done)
	s.progress.resume(done, time.Now())
	ctx, cancel := context.WithCancel(ctx) // ends the making of rows with this attempt
	defer cancel()
	blocks := produce(ctx, s.data, done+1, s.users, s.chunkRows)
	for done < s.users {
		rows := min(s.chunkRows, s.users-done)
		if err := s.loader.Load(ctx, columns, &chunkReader{blocks: blocks}, rows, s.passwordHash); err != nil {
			return done, err
		}
		done += rows
		s.done.Store(done)
		s.progress.report(done, time.Now())
	}
	return done, verify(ctx, s.loader, s.users)
}

var (
	usersFamily  = metrics.Gauge("replab_seed_users", "Users known to be in the table.")
	wantedFamily = metrics.Gauge("replab_seed_users_wanted", "Users planned for the table.")
)

func families() []*metrics.Family { return []*metrics.Family{usersFamily, wantedFamily} }

func (s *seeder) metrics() *prometheus.Registry {
	return metrics.New(metrics.Collector{Families: families(), Read: func(tell metrics.Tell) {
		tell(usersFamily, float64(s.done.Load()))
		tell(wantedFamily, float64(s.users))
	}})
}

// progress logs how far the seeding is.
type progress struct {
	users    int64
	started  time.Time
	resumed  int64 // users that were there before
	reported time.Time
}

func (p *progress) begin(users int64, now time.Time) {
	p.users, p.started, p.reported, p.resumed = users, now, now, -1
}

// resume notes how many users an attempt found. Only the first counts: later ones found this seeding's own.
func (p *progress) resume(done int64, now time.Time) {
	if p.resumed >= 0 {
		return
	}
	p.resumed, p.started = done, now
	slog.Info("seeding", "users", done, "of", p.users)
}

// report logs the state when the last line is old enough.
func (p *progress) report(done int64, now time.Time) {
	if now.Sub(p.reported) < progressInterval {
		return
	}
	p.reported = now
	rate, remaining := p.rate(done, now)
	slog.Info("seeding", "users", done, "of", p.users, "usersPerSecond", rate, "remaining", remaining)
}

// rate returns users per second since the start, and how long the rest takes at that rate.
func (p *progress) rate(done int64, now time.Time) (int64, time.Duration) {
	took := now.Sub(p.started)
	loaded := done - p.resumed
	if loaded <= 0 || took <= 0 {
		return 0, 0
	}
	remaining := time.Duration(float64(took) / float64(loaded) * float64(p.users-done))
	return int64(float64(loaded) / took.Seconds()), remaining.Round(time.Second)
}

func (p *progress) finish(now time.Time) {
	rate, _ := p.rate(p.users, now)
	slog.Info("seeded", "users", p.users, "found", p.resumed, "usersPerSecond", rate, "took", now.Sub(p.started).Round(time.Millisecond))
}
