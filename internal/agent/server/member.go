package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"

	"replab.dev/internal/agent/group"
	"replab.dev/internal/agent/hold"
	"replab.dev/internal/durable"
	"replab.dev/internal/engine"
	"replab.dev/internal/process"
	"replab.dev/internal/wire"
)

const (
	// roundInterval is the time between two rounds of questions to the other members.
	roundInterval = 200 * time.Millisecond
	// resolveTimeout bounds how long a name is looked up.
	resolveTimeout = 2 * time.Second
	// triesMost is how often in a row a server is started again here that did not stay in its group; then the container ends as it did.
	triesMost = 10
	// stays is how long a server runs that has joined its group.
	stays = time.Minute
	// killed is the exit code of a server that was killed: it joined nothing in vain.
	killed = 128 + 9
	// recoveryOutputMost bounds what is kept of what a recovery writes.
	recoveryOutputMost = 1 << 20
)

// errHeld says that a hold was put while the wrapper waited for the other members.
var errHeld = errors.New("the server is held")

// member is the wrapper's part in the group of its server. A nil member is of a server that is in none.
type member struct {
	cfg       wire.ServerConfig
	engine    engine.Grouped
	ordinal   int
	notes     group.Notes
	asker     *group.Asker
	transfers *transfers
	logger    *slog.Logger

	tries   int
	entered time.Time
	out     bool // the server was stopped since it stayed out of its group
}

func newMember(cfg wire.ServerConfig, e engine.Starter, ordinal int, log *slog.Logger) (*member, error) {
	grouped, ok := e.(engine.Grouped)
	if !ok {
		return nil, fmt.Errorf("engine %s knows no groups, and the configuration names one", cfg.Engine)
	}
	if ordinal >= len(cfg.Group.Members) {
		return nil, fmt.Errorf("node %d is not among the %d members of the group in the configuration", ordinal, len(cfg.Group.Members))
	}
	notes := group.Notes{Dir: cfg.RunDir}
	t, err := newTransfers(grouped, notes)
	return &member{
		cfg: cfg, engine: grouped, ordinal: ordinal, notes: notes, asker: group.NewAsker(cfg.Group.Members, ordinal), transfers: t, logger: log,
	}, err
}

// begin takes back what was told to the others: it counts no more until the position is known again.
func (m *member) begin() error {
	if m == nil {
		return nil
	}
	if err := m.notes.RemoveStart(); err != nil {
		return err
	}
	return m.putPrivate("", nil)
}

// putPrivate writes the part of the configuration that is this member's alone.
func (m *member) putPrivate(address string, peers []string) error {
	var donors []string
	for i := len(m.cfg.Group.Members) - 1; i >= 0; i-- { // the first are the likeliest to have the writes
		if i != m.ordinal {
			donors = append(donors, m.cfg.Group.Members[i].Name)
		}
	}
	file, err := m.engine.Private(engine.MemberParams{
		Name: m.cfg.Group.Members[m.ordinal].Name, Address: address, Peers: peers, Donors: donors,
		Password: func(account string) (string, error) { return process.Secret(m.cfg.SecretDir, account) },
	})
	if err != nil {
		return fmt.Errorf("write the member's own configuration: %w", err)
	}
	return durable.WriteFile(filepath.Join(m.cfg.RunDir, file.Name), []byte(file.Content), 0o600)
}

// unfinished tells whether the data are a part of what another member was handing over.
func (m *member) unfinished() (bool, error) {
	if m == nil {
		return false, nil
	}
	for _, name := range m.engine.Recovery(m.cfg.Server).Unfinished {
		_, err := os.Stat(filepath.Join(m.cfg.DataDir, name))
		if err == nil {
			return true, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return false, fmt.Errorf("look for an unfinished transfer: %w", err)
		}
	}
	return false, nil
}

// enter waits until the server may join the group, or begin it.
func (m *member) enter(ctx context.Context, empty bool) (engine.Entry, error) {
	var position wire.GroupPosition
	if !empty {
		var err error
		if position, err = m.findPosition(ctx); err != nil {
			return engine.Entry{}, err
		}
	}
	said := ""
	for {
		if standing, err := hold.Standing(m.cfg.HoldDir, time.Now()); err != nil || len(standing) > 0 {
			return engine.Entry{}, errors.Join(err, errHeld, m.notes.RemoveStart())
		}
		if err := m.notes.PutStart(wire.GroupStart{Phase: wire.GroupGathering, Position: position, Why: said}); err != nil {
			return engine.Entry{}, err
		}
		heard := m.asker.Round(ctx)
		d := group.Decide(m.ordinal, group.Standings(m.cfg.Group.Members, m.ordinal, group.Waiting(position), heard))
		if d.Act != group.Wait {
			ready, err := m.ready(ctx, d, position, heard)
			if err == nil {
				return ready, nil
			}
			d.Why = err.Error()
		}
		if d.Why != said {
			said = d.Why
			m.logger.Info("waiting before the server is started", "why", said)
		}
		select {
		case <-ctx.Done():
			return engine.Entry{}, ctx.Err()
		case <-time.After(roundInterval):
		}
	}
}

// ready notes that the server may be in a primary component from now on.
func (m *member) ready(ctx context.Context, d group.Decision, position wire.GroupPosition, heard []group.Heard) (engine.Entry, error) {
	address, err := resolve(ctx, m.cfg.Group.Members[m.ordinal].Host)
	if err != nil {
		return engine.Entry{}, fmt.Errorf("this node's own address is not known yet: %w", err)
	}
	var peers []string
	for i, h := range heard {
		if h.State == nil {
			continue
		}
		if peer, err := resolve(ctx, m.cfg.Group.Members[i].Host); err == nil {
			peers = append(peers, peer)
		}
	}
	if d.Act == group.Join && len(peers) == 0 {
		return engine.Entry{}, errors.New("the address of no other member is known yet")
	}
	if err := m.putPrivate(address, peers); err != nil {
		return engine.Entry{}, err
	}
	if err := m.notes.PutStart(wire.GroupStart{Phase: wire.GroupStarting, Position: position, Why: d.Why}); err != nil {
		return engine.Entry{}, err
	}
	m.logger.Info("starting the server as a member", "why", d.Why, "begins", d.Act == group.Begin, "history", position.History, "sequence", position.Sequence)
	m.entered = time.Now()
	return engine.Entry{Begins: d.Act == group.Begin, Position: position}, nil
}

// findPosition finds out how far the data have come.
func (m *member) findPosition(ctx context.Context) (wire.GroupPosition, error) {
	how := m.engine.Recovery(m.cfg.Server)
	if err := removeAll(how.Remove); err != nil {
		return wire.GroupPosition{}, err
	}
	var output tail
	c, err := start(how.Argv, how.Env, io.MultiWriter(os.Stderr, &output))
	if err != nil {
		return wire.GroupPosition{}, fmt.Errorf("find out how far the data have come: %w", err)
	}
	stop := context.AfterFunc(ctx, c.kill) // it changes nothing that the next start would not
	defer stop()
	if code := c.wait(); code != 0 {
		return wire.GroupPosition{}, fmt.Errorf("find out how far the data have come: %s ended with exit code %d; its messages are above", how.Argv[0], code)
	}
	return how.Position(output.String())
}

// leftOut tells once that the running server stays out of its group until it is started again; never of a server that is in none.
func (m *member) leftOut() <-chan struct{} {
	if m == nil {
		return nil
	}
	return m.transfers.failed
}

// triesAgain tells whether a server that ended with this code is to be started again at once: it could not join.
func (m *member) triesAgain(code int) bool {
	if m == nil || !m.out && (code == 0 || code == killed) {
		return false
	}
	m.out = false
	if time.Since(m.entered) > stays {
		m.tries = 0
	}
	m.tries++
	return m.tries <= triesMost
}

// ended notes that the server has.
func (m *member) ended() {
	if m != nil {
		m.transfers.died()
	}
}

// log is where the server's messages go, nil for where they go anyhow.
func (m *member) log() io.Writer {
	if m == nil {
		return nil
	}
	return m.transfers
}

// tail keeps the last part of what is written to it.
type tail struct{ bytes.Buffer }

func (t *tail) Write(p []byte) (int, error) {
	n, err := t.Buffer.Write(p)
	if over := t.Len() - recoveryOutputMost; over > 0 {
		t.Next(over)
	}
	return n, err
}

// resolve returns the address of a host.
func resolve(ctx context.Context, host string) (string, error) {
	if ip := net.ParseIP(host); ip != nil {
		return host, nil
	}
	ctx, cancel := context.WithTimeout(ctx, resolveTimeout)
	defer cancel()
	all, err := net.DefaultResolver.LookupHost(ctx, host)
	if err != nil {
		return "", err
	}
	return all[0], nil
}
