package postgres

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"replab.dev/internal/engine"
	"replab.dev/internal/httpclient"
)

var (
	_ engine.ManagedLocal  = Server{}
	_ engine.ManagerClient = &Patroni{}
)

// restUser may change something by Patroni's API, with the administrator's password.
const restUser = "replab"

// answerMost bounds what is read of an answer, and saidMost what is told of one.
const (
	answerMost = 1 << 20
	saidMost   = 300
)

// Patroni implements engine.ManagerClient by the API of a node's Patroni.
type Patroni struct {
	url, password string
	http          *http.Client
}

// ManagerClient implements engine.ManagedLocal. Patroni ends each connection after one answer.
func (Server) ManagerClient(url, password string) engine.ManagerClient {
	return &Patroni{url: url, password: password, http: httpclient.Client(&http.Transport{DisableKeepAlives: true})}
}

// Node implements engine.ManagerClient. The question for the role is answered with the node's state whether the answer is yes or no, and,
// unlike the one for the state, without asking the server again and again when it does not answer.
func (p *Patroni) Node(ctx context.Context) (engine.ManagerNode, error) {
	code, body, err := p.ask(ctx, http.MethodGet, "/primary", nil)
	if err != nil {
		return engine.ManagerNode{}, err
	}
	return managerNodeOf(code, body)
}

func managerNodeOf(code int, body []byte) (engine.ManagerNode, error) {
	var told struct {
		State, Role string
		Pause       bool
		Sync        bool `json:"sync_standby"`
		Quorum      bool `json:"quorum_standby"`
		Patroni     struct{ Version string }
	}
	if err := read(body, &told); err != nil || told.State == "" || code != http.StatusOK && code != http.StatusServiceUnavailable {
		return engine.ManagerNode{}, unexpected(code, body, err)
	}
	return engine.ManagerNode{
		Holds: code == http.StatusOK, State: told.State, Role: told.Role, Copying: told.State == "creating replica",
		Synchronous: told.Sync || told.Quorum, Paused: told.Pause, Version: told.Patroni.Version,
	}, nil
}

// Cluster implements engine.ManagerClient.
func (p *Patroni) Cluster(ctx context.Context) (engine.ManagerCluster, error) {
	code, body, err := p.ask(ctx, http.MethodGet, "/cluster", nil)
	if err != nil {
		return engine.ManagerCluster{}, err
	}
	return clusterOf(code, body)
}

func clusterOf(code int, body []byte) (engine.ManagerCluster, error) {
	var told struct {
		Members []struct {
			Name, Role, State string
			Timeline          int64
		}
	}
	if err := read(body, &told); err != nil || code != http.StatusOK {
		return engine.ManagerCluster{}, unexpected(code, body, err)
	}
	var c engine.ManagerCluster
	for _, m := range told.Members {
		switch m.Role {
		case "leader":
			c.Leader, c.LeaderTimeline = m.Name, m.Timeline
		case "sync_standby", "quorum_standby":
			c.Synchronous++
		}
		switch m.State {
		case "running":
			c.Running++
		case "streaming":
			c.Running++
			c.Streaming++
		}
	}
	return c, nil
}

// Settings implements engine.ManagerClient.
func (p *Patroni) Settings(ctx context.Context) (engine.ManagerSettings, error) {
	code, body, err := p.ask(ctx, http.MethodGet, "/config", nil)
	if err != nil {
		return engine.ManagerSettings{}, err
	}
	return settingsOf(code, body)
}

// settingsOf are those that are words, numbers and switches. What is below others is the server's.
func settingsOf(code int, body []byte) (engine.ManagerSettings, error) {
	var told map[string]any
	if err := read(body, &told); err != nil || code != http.StatusOK {
		return engine.ManagerSettings{}, unexpected(code, body, err)
	}
	s := engine.ManagerSettings{Words: map[string]string{}}
	for name, value := range told {
		switch v := value.(type) {
		case string, bool, json.Number:
			s.Words[name] = fmt.Sprint(v)
		}
	}
	ttl, _ := strconv.ParseFloat(s.Words["ttl"], 64) // 0 of what is no number, as of what is not there
	s.TTL = time.Duration(ttl * float64(time.Second))
	switch s.Words["synchronous_mode"] {
	case "", "false", "off":
	default:
		count, _ := strconv.Atoi(s.Words["synchronous_node_count"])
		s.Synchronous = cmp.Or(count, 1)
	}
	return s, nil
}

// switchedTo finds the new holder of the lock in the answer to a switchover.
var switchedTo = regexp.MustCompile(`witched over to "([^"]+)"`)

// SwitchOver implements engine.ManagerClient.
func (p *Patroni) SwitchOver(ctx context.Context, from string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, engine.SwitchOverMost)
	defer cancel()
	code, body, err := p.ask(ctx, http.MethodPost, "/switchover", map[string]any{"leader": from})
	if err != nil {
		return "", err
	}
	return switchOverOf(code, body)
}

// switchOverOf an answer. That it failed, or that its state is not known, is answered after the order was written, and is not the last word.
func switchOverOf(code int, body []byte) (string, error) {
	if found := switchedTo.FindSubmatch(body); code == http.StatusOK && found != nil {
		return string(found[1]), nil
	}
	err := unexpected(code, body, nil)
	if code >= 400 && code < 500 {
		err = fmt.Errorf("%w: %w", engine.ErrSwitchOverRefused, err)
	}
	return "", err
}

// Pause implements engine.ManagerClient.
func (p *Patroni) Pause(ctx context.Context) error {
	code, body, err := p.ask(ctx, http.MethodPatch, "/config", map[string]any{"pause": true})
	if err == nil && code != http.StatusOK {
		err = unexpected(code, body, nil)
	}
	return err
}

// ask returns any answer.
func (p *Patroni) ask(ctx context.Context, method, path string, document any) (code int, body []byte, err error) {
	var sent io.Reader = http.NoBody
	if document != nil {
		text, _ := json.Marshal(document) // texts and switches can always be written
		sent = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, p.url+path, sent)
	if err != nil {
		return 0, nil, err
	}
	if document != nil {
		request.SetBasicAuth(restUser, p.password)
		request.Header.Set("Content-Type", "application/json")
	}
	answer, err := p.http.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer answer.Body.Close()
	body, err = io.ReadAll(io.LimitReader(answer.Body, answerMost))
	if err != nil {
		return 0, nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	return answer.StatusCode, body, nil
}

// read keeps numbers as they are written.
func read(body []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	return d.Decode(into)
}

// unexpected is the error of an answer, with what is wrong with it where that is known.
func unexpected(code int, body []byte, err error) error {
	said := strings.TrimSpace(string(body[:min(len(body), saidMost)]))
	if err != nil {
		return fmt.Errorf("the answer of Patroni, %d with %q, cannot be read: %w", code, said, err)
	}
	return fmt.Errorf("the answer of Patroni is %d: %s", code, said)
}
