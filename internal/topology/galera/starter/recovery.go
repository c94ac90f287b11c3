package starter

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
	"slices"
	"time"

	"replab.dev/internal/atomicfile"
	"replab.dev/internal/engine"
	"replab.dev/internal/process"
	"replab.dev/internal/starter"
	"replab.dev/internal/topology/galera/agent"
	"replab.dev/internal/wire"
)

// recoveryOutputMost bounds what is kept of what a recovery writes.
const recoveryOutputMost = 1 << 20

// unfinished tells whether the data are a part of what another member was handing over.
func (m *member) unfinished() (bool, error) {
	how := m.engine.Recovery(m.Config.Server)
	for _, marks := range []struct {
		names []string
		there bool // the data are a part where one of them is there, or else where one is missing
	}{{how.Unfinished, true}, {how.Whole, false}} {
		for _, name := range marks.names {
			_, err := os.Stat(filepath.Join(m.Config.DataDir, name))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return false, fmt.Errorf("look for an unfinished transfer: %w", err)
			}
			if (err == nil) == marks.there {
				return true, nil
			}
		}
	}
	return false, nil
}

// findPosition finds out how far the data have come; empty data never belonged to a agent. It leaves them recovered: what a start after it
// reads is what the position stands for.
func (m *member) findPosition(ctx context.Context, empty bool) (wire.GroupPosition, error) {
	if empty {
		return wire.GroupPosition{}, nil
	}
	how := m.engine.Recovery(m.Config.Server)
	note, err := m.note(how.Note)
	if err != nil {
		return wire.GroupPosition{}, err
	}
	var output tail
	if err := starter.Execute(ctx, how.Start, io.MultiWriter(os.Stderr, &output)); err != nil { // to kill it changes nothing that the next start would not
		return wire.GroupPosition{}, fmt.Errorf("find out how far the data have come: %w", err)
	}
	return toldPosition(how, &output, note)
}

// toldPosition reads what a recovery wrote. That data were not closed in order, so that the note may be of a moment before, is said at its
// beginning: where that is not kept the note is not believed.
func toldPosition(how engine.Recovery, output *tail, note string) (wire.GroupPosition, error) {
	if output.cut {
		note = ""
	}
	return how.Position(output.String(), note)
}

// note is what a file of the data says, "" without one.
func (m *member) note(name string) (string, error) {
	if name == "" {
		return "", nil
	}
	text, err := os.ReadFile(filepath.Join(m.Config.DataDir, name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("find out how far the data have come: %w", err)
	}
	return string(text), nil
}

// tail keeps the last part of what is written to it.
type tail struct {
	bytes.Buffer
	cut bool // there was more before it
}

func (t *tail) Write(p []byte) (int, error) {
	n, err := t.Buffer.Write(p)
	if over := t.Len() - recoveryOutputMost; over > 0 {
		t.Next(over)
		t.cut = true
	}
	return n, err
}

// resolveTimeout bounds how long a name is looked up.
const resolveTimeout = 2 * time.Second

// putPrivate writes the part of the configuration that is this member's alone.
func (m *member) putPrivate(address string, peers []string) error {
	var donors []string
	for i := len(m.Config.Group.Members) - 1; i >= 0; i-- { // the first are the likeliest to have the writes
		if i != m.Ordinal {
			donors = append(donors, m.Config.Group.Members[i].Name)
		}
	}
	file, err := m.engine.Private(engine.MemberParams{
		Name: m.Config.Group.Members[m.Ordinal].Name, Address: address, Peers: peers, Donors: donors,
		Password: func(account string) (string, error) { return process.Secret(m.Config.SecretDir, account) },
	})
	if err != nil {
		return fmt.Errorf("write the member's own configuration: %w", err)
	}
	return atomicfile.WriteFile(filepath.Join(m.Config.RunDir, file.Name), []byte(file.Content), 0o600)
}

// ready notes that the server may be in a primary component from now on.
func (m *member) ready(ctx context.Context, d agent.Decision, position wire.GroupPosition, answers []agent.Answer) (engine.Entry, error) {
	address, err := resolve(ctx, m.Config.Group.Members[m.Ordinal].Host)
	if err != nil {
		return engine.Entry{}, fmt.Errorf("this node's own address is not known yet: %w", err)
	}
	var peers []string
	for i, h := range answers {
		if h.State == nil {
			continue
		}
		if peer, err := resolve(ctx, m.Config.Group.Members[i].Host); err == nil {
			peers = append(peers, peer)
		}
	}
	if d.Act == agent.Join && len(peers) == 0 {
		return engine.Entry{}, errors.New("the address of no other member is known yet")
	}
	if err := m.putPrivate(address, peers); err != nil {
		return engine.Entry{}, err
	}
	if err := m.notes.Start.Save(wire.GroupStart{Phase: wire.GroupStarting, Position: position, Why: d.Why}); err != nil {
		return engine.Entry{}, err
	}
	slog.Info("starting the server as a member", "why", d.Why, "begins", d.Act == agent.Begin, "history", position.History, "sequence", position.Sequence)
	m.entered = time.Now()
	return engine.Entry{Begins: d.Act == agent.Begin, Position: position}, nil
}

// resolve returns the address of a host, that of IPv4 where it has both: the members' are all to be of one kind.
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
	if i := slices.IndexFunc(all, func(address string) bool { return net.ParseIP(address).To4() != nil }); i >= 0 {
		return all[i], nil
	}
	return all[0], nil
}
