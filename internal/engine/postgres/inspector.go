package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"replab.dev/internal/engine"
)

// inspectTimeout bounds the connection.
const inspectTimeout = 5 * time.Second

// systemIdentifier is not a setting; it is told among them, since all nodes of a cluster have it in common and none by itself.
const systemIdentifier = "system_identifier"

// Inspector implements engine.Inspector. It connects for each question and goes: it is asked a few times a run.
type Inspector struct {
	password string
	kinds    *sync.Map // Kind of settings by name, as a server told them last
}

// NewInspector implements engine.OpenInspector.
func NewInspector(password string) engine.Inspector {
	return Inspector{password: password, kinds: &sync.Map{}}
}

// Same implements engine.Inspector, for settings that were asked for.
func (i Inspector) Same(name, expected, actual string) bool {
	k, _ := i.kinds.Load(name)
	known, _ := k.(Kind)
	return known.Same(name, expected, actual)
}

// Inspect implements engine.Inspector. host may name a port. A server is known by its node: the identifier that its data have is that of
// every other node of its cluster.
func (i Inspector) Inspect(ctx context.Context, host string, names []string) (engine.Inspection, error) {
	a, err := probe(host, i.password, "replab-inspect")
	if err != nil {
		return engine.Inspection{}, err
	}
	conn, err := a.connect(ctx, inspectTimeout)
	if err != nil {
		return engine.Inspection{}, err
	}
	defer func() { _ = conn.Close(ctx) }() // it was only read from
	var version, system string
	result := engine.Inspection{Settings: map[string]string{}}
	err = scan(ctx, conn, "SELECT replab_node(), version(), system_identifier FROM pg_control_system()", &result.Identity, &version, &system)
	if err != nil {
		return engine.Inspection{}, fmt.Errorf("read who the server is: %w", err)
	}
	result.Version = firstWords(version, 2)
	if slices.Contains(names, systemIdentifier) {
		result.Settings[systemIdentifier] = system
	}
	const query = "SELECT name, current_setting(name), coalesce(unit, ''), vartype FROM pg_settings WHERE name = ANY (string_to_array($1, ','))"
	read := conn.ExecParams(ctx, query, texts(strings.Join(names, ",")), nil, nil, nil).Read()
	if read.Err != nil {
		return engine.Inspection{}, fmt.Errorf("read the server's settings: %w", read.Err)
	}
	for _, r := range read.Rows {
		name := string(r[0])
		result.Settings[name] = string(r[1])
		i.kinds.Store(name, Kind{Unit: string(r[2]), Type: string(r[3])})
	}
	return result, nil
}

// firstWords of a text.
func firstWords(text string, most int) string {
	words := strings.Fields(text)
	return strings.Join(words[:min(most, len(words))], " ")
}
