package recorder

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/mysql"
	"replab.dev/internal/engine/mysql/mysqltest"
	"replab.dev/internal/wire"
)

// nodesInside are inspected servers whose settings a test changes.
type nodesInside struct {
	engine.Inspector // for Same

	mu     sync.Mutex
	says   map[string]map[string]string // by address, nil: no answer
	silent map[string]int               // for how many questions
}

func (n *nodesInside) Inspect(_ context.Context, host string, _ []string) (engine.Inspection, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	settings := n.says[host]
	if n.silent[host] > 0 {
		n.silent[host]--
		settings = nil
	}
	if settings == nil {
		return engine.Inspection{}, errors.New("no answer")
	}
	return engine.Inspection{Version: "9", Identity: "uuid-" + host, Settings: settings}, nil
}

func (n *nodesInside) set(host string, settings map[string]string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.says[host] = settings
}

func (n *nodesInside) hush(host string, questions int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.silent[host] = questions
}

func TestInspection(t *testing.T) {
	servers := &nodesInside{Inspector: mysql.NewInspector(""), says: map[string]map[string]string{
		"same": {"sync_binlog": "1", "stated": "PT5S"}, "differs": {"sync_binlog": "0"}, "changes": {"sync_binlog": "1"}, "lacks": {}, "dies": {"sync_binlog": "1"},
		"silent for a moment": {"sync_binlog": "1"},
	}, silent: map[string]int{}}
	cfg := wire.RecorderConfig{Settings: []wire.Setting{{Name: "sync_binlog", Value: "ON"}, {Name: "start_option", Value: "x", MayLack: true}, {Name: "stated", AnyValue: true}}}
	for _, name := range []string{"same", "differs", "changes", "lacks", "dies", "late", "silent for a moment"} {
		cfg.Nodes = append(cfg.Nodes, wire.Node{Name: name})
	}
	i := newInspection(cfg, func(n wire.Node) string { return n.Name }, servers)
	for n := range cfg.Nodes {
		i.note(n, i.look(t.Context(), n))
	}
	i.note(0, inspected{err: "a moment's silence"}) // an answer is better than none
	i.start()
	servers.set("late", map[string]string{"sync_binlog": "1"})
	servers.set("changes", map[string]string{"sync_binlog": "0"})
	servers.set("dies", nil)
	servers.hush("silent for a moment", 3)
	i.pause = time.Millisecond
	i.finish(t.Context())

	want := map[string]struct {
		actual, changed, unread, after string
		differs                        bool
	}{
		"same":    {actual: "1"},
		"differs": {actual: "0", differs: true},
		"changes": {actual: "1", changed: "0"},
		"lacks":   {},
		"dies":    {actual: "1", after: "no answer"},
		"late":    {unread: "no answer"},

		"silent for a moment": {actual: "1"},
	}
	text := func(s *string) string {
		if s == nil {
			return ""
		}
		return *s
	}
	for _, n := range i.result() {
		w, s := want[n.Node], n.Settings[0]
		if text(s.Actual) != w.actual || text(s.Changed) != w.changed || n.Unread != w.unread || n.UnreadAfter != w.after || s.Differs != w.differs {
			t.Errorf("%s: actual %q, changed %q, unread %q, after %q, differs %v", n.Node, text(s.Actual), text(s.Changed), n.Unread, n.UnreadAfter, s.Differs)
		}
		if s := n.Settings[2]; n.Node == "same" && (text(s.Actual) != "PT5S" || s.Differs) {
			t.Errorf("%s: a setting that is only to be stated is %q, differs %v", n.Node, text(s.Actual), s.Differs)
		}
		if s := n.Settings[1]; s.Actual != nil || s.Differs || !s.MayLack {
			t.Errorf("%s: of what it does not have it is told %+v", n.Node, s)
		}
	}
}

// TestASettingThatDiffersOnOneServerStandsInTheResults with real servers, one of which was changed by hand.
func TestASettingThatDiffersOnOneServerStandsInTheResults(t *testing.T) {
	one, other := mysqltest.Start(t, "one"), mysqltest.Start(t, "other")
	other.Exec("SET GLOBAL sync_binlog=0")
	ports := map[string]*mysqltest.Server{"one": one, "other": other}
	cfg := wire.RecorderConfig{
		Nodes: []wire.Node{{Name: "one"}, {Name: "other"}}, Settings: mysql.Server{}.Expected(engine.Settings{Durability: engine.Full}),
	}
	address := func(n wire.Node) string { return nodeAddress(ports[n.Name].Port)(wire.Node{Host: "127.0.0.1"}) }
	i := newInspection(cfg, address, mysql.NewInspector(mysqltest.Password))
	for n := range cfg.Nodes {
		i.note(n, i.look(t.Context(), n))
	}
	i.start()
	i.finish(t.Context())
	var differs []string
	for _, n := range i.result() {
		if n.Version == "" || n.Unread != "" || n.UnreadAfter != "" {
			t.Errorf("%s was not read: %+v", n.Node, n)
		}
		for _, s := range n.Settings {
			if s.Differs || s.Changed != nil || s.Actual == nil {
				differs = append(differs, n.Node+" "+s.Name)
			}
		}
	}
	if !slices.Equal(differs, []string{"other sync_binlog"}) {
		t.Errorf("differs: %q", differs)
	}
}
