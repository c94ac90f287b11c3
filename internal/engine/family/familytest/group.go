package familytest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"replab.dev/internal/engine"
	"replab.dev/test/template"
)

// Member is a server that is a member of a group.
type Member struct {
	*Server
	grouped engine.Grouped
	argv    []string // without what differs between starts
}

// SuspectAfter has members take one that is silent for lost after this time.
func SuspectAfter(d time.Duration) Option {
	return func(s *engine.Settings) { s.Group.SuspectMilliseconds = d.Milliseconds() }
}

// StartGroup starts servers as one group of members in step, each with the name of the node and a number, as node names have it. They
// end with the test.
func (f Flavor) StartGroup(t testing.TB, name string, count int, opts ...Option) []*Member {
	t.Helper()
	id := rand.Uint32() // members of two tests never meet
	opts = append([]Option{func(s *engine.Settings) { s.Group = &engine.Group{Name: fmt.Sprintf("%s-%x", name, id)} }}, opts...)
	var all []*Member
	var addresses, names []string
	for i := range count {
		s := f.Prepare(t, fmt.Sprintf("%s-%d", name, i), opts...)
		all = append(all, &Member{Server: s, grouped: f.Roles.(engine.Grouped), argv: s.argv})
		addresses = append(addresses, fmt.Sprintf("127.%d.%d.%d", 1+id%250, id>>8%256, 2+i))
		names = append(names, s.Name)
		t.Cleanup(s.Kill)
	}
	for i, m := range all {
		m.writePrivate(addresses[i], addresses, names)
	}
	first := all[0]
	first.Initialize()
	first.Enter(true) // and out again, for a place in the history that all members begin with
	first.Stop()
	for _, m := range all[1:] {
		template.Duplicate(t, first.data(), m.data())
	}
	first.Enter(true)
	first.AwaitSynced(1)
	for i, m := range all[1:] { // one after the other: who joins beside another may be left out
		m.Enter(false)
		m.AwaitSynced(i + 2)
	}
	for _, m := range all {
		m.AwaitSynced(count)
	}
	return all
}

func (s *Server) data() string { return filepath.Join(s.Dir, "data") }

// writePrivate writes the file that the member's configuration includes.
func (m *Member) writePrivate(address string, peers, names []string) {
	m.t.Helper()
	others := slices.DeleteFunc(slices.Clone(peers), func(p string) bool { return p == address })
	donors := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == m.Name })
	file, err := m.grouped.Private(engine.MemberParams{
		Name: m.Name, Address: address, Peers: others, Donors: donors, Password: func(string) (string, error) { return Password, nil },
	})
	must(m.t, err)
	config, err := filepath.Glob(m.Dir + "/*.cnf")
	must(m.t, err)
	text, err := os.ReadFile(config[0])
	must(m.t, err)
	lines := strings.Join(m.Flavor.MemberLines(m.t, address, string(text)), "\n") + "\n"
	must(m.t, os.WriteFile(filepath.Join(filepath.Dir(m.Socket), file.Name), []byte(file.Content+lines), 0o600))
}

// Enter starts the server as a member, from how far its data have come, or begins the group with it.
func (m *Member) Enter(begins bool) {
	m.t.Helper()
	entry := engine.Entry{Begins: begins}
	if _, err := os.Stat(filepath.Join(m.data(), "grastate.dat")); err == nil {
		how := m.grouped.Recovery(m.argv)
		out, err := exec.Command(how.Argv[0], how.Argv[1:]...).CombinedOutput()
		if err == nil {
			entry.Position, err = how.Position(string(out), "")
		}
		if err != nil {
			m.t.Errorf("find out how far the data of %s have come: %v\n%s", m.Name, err, out)
			return
		}
	}
	start := m.grouped.Enter(m.argv, engine.StartParams{Socket: m.Socket}, entry)
	for _, file := range start.DataFiles {
		must(m.t, os.WriteFile(filepath.Join(m.data(), file.Name), []byte(file.Content), 0o600))
	}
	for _, file := range start.Remove {
		_ = os.Remove(file) // it need not be there
	}
	m.Server.argv = start.Argv
	m.Run()
}

// Stop ends the server in good order.
func (s *Server) Stop() {
	s.t.Helper()
	must(s.t, s.cmd.Process.Signal(syscall.SIGTERM))
	if !s.ended(patience) {
		s.t.Fatalf("%s does not end within %s", s.Name, patience)
	}
}

// AwaitSynced waits until the member is in step in a primary component of so many. It asks as the node's agent does.
func (m *Member) AwaitSynced(members int) {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	client, err := m.Flavor.Roles.Client(m.Socket, Password)
	must(m.t, err)
	defer client.Close()
	for {
		look, err := client.(engine.Member).Group(ctx)
		if err == nil && look.Synced && len(look.Servers) == members { // who is in step is in a primary component
			return
		}
		select {
		case <-ctx.Done():
			m.t.Fatalf("%s is not in step with %d members within %s: last it was %+v, %v", m.Name, members, patience, look, err)
		case <-time.After(50 * time.Millisecond): // between two looks
		}
	}
}
