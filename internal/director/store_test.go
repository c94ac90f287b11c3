package director

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"replab.dev/internal/wire"
)

// memoryStore keeps the state as the ConfigMap would.
type memoryStore struct {
	mu   sync.Mutex
	text string
	log  []wire.DirectorState
}

func (m *memoryStore) Load(context.Context) (state wire.DirectorState, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.text != "" {
		err = json.Unmarshal([]byte(m.text), &state)
	}
	return state, err
}

func (m *memoryStore) Save(_ context.Context, document string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	var state wire.DirectorState
	if err := json.Unmarshal([]byte(document), &state); err != nil {
		return err
	}
	m.text, m.log = document, append(m.log, state)
	return nil
}

// crashingStore kills its director at every state that is new to it: at the first try before the state is stored, at
// the second right after.
type crashingStore struct {
	*memoryStore
	tries   map[string]int
	crashes int

	mu   sync.Mutex
	kill context.CancelFunc
}

var errCrash = errors.New("the director was killed")

func (c *crashingStore) start(kill context.CancelFunc) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kill = kill
}

func (c *crashingStore) died() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.kill == nil
}

func (c *crashingStore) Save(ctx context.Context, document string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tries == nil {
		c.tries = map[string]int{}
	}
	key := crashKey(document)
	c.tries[key]++
	if c.tries[key] > 1 {
		if err := c.memoryStore.Save(ctx, document); err != nil {
			return err
		}
	}
	if c.tries[key] > 2 {
		return nil
	}
	c.crashes++
	c.kill()
	c.kill = nil
	return errCrash
}

// crashKey is what makes a state another one: not its moments, nor how far the replicas are.
func crashKey(document string) string {
	var s wire.DirectorState
	if err := json.Unmarshal([]byte(document), &s); err != nil {
		panic(err)
	}
	key := fmt.Sprint(s.Epoch, s.Primary, s.Opened, s.Configured)
	for _, n := range s.Nodes {
		key += fmt.Sprint(" ", n.Role, n.Rejoin, n.GhostTransactions != nil)
	}
	for _, f := range s.Failovers {
		key += fmt.Sprint(" ", f.NewPrimary, f.FencedAt != nil, f.AppliedAt != nil, f.PromotedAt != nil, f.RepointedAt != nil)
	}
	for _, w := range s.Switchovers {
		key += fmt.Sprint(" ", w.To, w.ClosedAt != nil, w.Epoch, w.Outcome)
	}
	return key
}
