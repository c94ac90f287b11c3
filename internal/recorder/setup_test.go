package recorder

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"replab.dev/internal/engine/secrettest"
	"replab.dev/internal/wire"
	"replab.dev/test/freeport"
)

// stages give every test's requests that name no stage to the first.
var stages = []wire.Stage{{Name: "steady", DurationSeconds: 3600}, {Name: "cooldown", DurationSeconds: 1, Discard: true}}

// memory is a ConfigMap in memory.
type memory struct {
	mu     sync.Mutex
	data   map[string]string
	binary map[string][]byte
	err    error
}

func (m *memory) Read(context.Context) (*corev1.ConfigMap, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return &corev1.ConfigMap{Data: maps.Clone(m.data), BinaryData: maps.Clone(m.binary)}, m.err
}

func (m *memory) Publish(_ context.Context, data map[string]string, binary map[string][]byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return m.err
	}
	if m.data == nil {
		m.data, m.binary = map[string]string{}, map[string][]byte{}
	}
	maps.Copy(m.data, data)
	maps.Copy(m.binary, binary)
	return nil
}

func (m *memory) state(t *testing.T) (doc wire.RecorderState) {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	if text := m.data[wire.RecorderStateKey]; text != "" {
		if err := json.Unmarshal([]byte(text), &doc); err != nil {
			t.Fatal(err)
		}
	}
	return doc
}

func (m *memory) results(t *testing.T) wire.RecorderResults {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := unpack(m.binary[wire.RecorderResultsKey])
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (m *memory) failWith(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.err = err
}

// bench is where recorders are tested: the files and the ConfigMap that outlive them, and an app.
type bench struct {
	t     *testing.T
	cfg   wire.RecorderConfig
	board *memory
	env   environment
}

func newBench(t *testing.T, handle http.HandlerFunc) *bench {
	t.Helper()
	a := newApp(t, handle)
	address := a.Listener.Addr().(*net.TCPAddr)
	b := &bench{t: t, board: &memory{}}
	b.cfg = wire.RecorderConfig{
		Namespace: "default", StateMap: "recorder", Listen: freeport.Address(t), ListenControl: freeport.Address(t),
		App: wire.Endpoint{Host: "127.0.0.1", Port: address.Port}, SecretDir: secrettest.SecretDir(t),
		LedgerPath: filepath.Join(t.TempDir(), "ledger"), Engine: "MySQL",
		Stages: stages, RequestTimeoutMilliseconds: 5000,
	}
	b.env = environment{board: b.board, engine: probed, server: nodeHost, agent: nodeAddress(wire.PortAgent)}
	return b
}

// run starts a recorder, waits until it serves, and returns how to stop it as SIGTERM does.
func (b *bench) run() (w *recorder, stop func()) {
	b.t.Helper()
	w, err := open(b.t.Context(), b.cfg, b.env)
	if err != nil {
		b.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- w.serve(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			b.t.Errorf("the recorder ended: %v", err)
		}
	})
	b.t.Cleanup(stop)
	eventually(b.t, "the recorder serves", func() bool {
		r, err := http.Get(b.control(wire.RecorderPathHealth))
		if err == nil {
			r.Body.Close()
		}
		c, doorErr := net.Dial("tcp", b.cfg.Listen)
		if doorErr == nil {
			c.Close()
		}
		return err == nil && doorErr == nil
	})
	return w, stop
}

func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

func (b *bench) control(path string) string { return "http://" + b.cfg.ListenControl + path }

func (b *bench) register() int {
	b.t.Helper()
	r, err := http.Post("http://"+b.cfg.Listen+wire.SocialPathRegister, "", strings.NewReader("{}"))
	if err != nil {
		b.t.Fatal(err)
	}
	defer r.Body.Close()
	return r.StatusCode
}

func (b *bench) get(url string) (status int, body []byte) {
	b.t.Helper()
	r, err := http.Get(url)
	if err != nil {
		b.t.Fatal(err)
	}
	defer r.Body.Close()
	body, err = io.ReadAll(r.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return r.StatusCode, body
}

func (b *bench) finish() (status int, results wire.RecorderResults) {
	b.t.Helper()
	r, err := http.NewRequest(http.MethodPost, b.control(wire.RecorderPathFinish), nil)
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer test-token")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusOK {
		if err := json.NewDecoder(answer.Body).Decode(&results); err != nil {
			b.t.Fatal(err)
		}
	}
	return answer.StatusCode, results
}
