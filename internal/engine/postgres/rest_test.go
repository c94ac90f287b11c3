package postgres_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/postgres"
)

// restAPI is an API of Patroni that gives one answer, and keeps what it was asked.
type restAPI struct {
	code int
	body string

	asked string
	login string
}

func (a *restAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	user, password, _ := r.BasicAuth()
	a.asked, a.login = fmt.Sprintf("%s %s %s", r.Method, r.URL.Path, body), user+":"+password
	w.WriteHeader(a.code)
	_, _ = io.WriteString(w, a.body)
}

func (a *restAPI) client(t *testing.T) engine.ManagerClient {
	t.Helper()
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	return postgres.Server{}.ManagerClient(server.URL, "secret")
}

func TestWhatPatroniSaysOfItsNode(t *testing.T) {
	const version = `"patroni": {"version": "4.0.7", "scope": "a-db", "name": "a-db-0"}`
	for name, c := range map[string]struct {
		code int
		body string
		want engine.ManagerNode
	}{
		"the leader": {
			200, `{"state": "running", "role": "primary", "timeline": 1, "dcs_last_seen": 1795400000, ` + version + `}`,
			engine.ManagerNode{Holds: true, State: "running", Role: "primary", Version: "4.0.7"},
		},
		"a standby that may be promoted with a quorum": {
			503, `{"state": "running", "role": "replica", "quorum_standby": true, "replication_state": "streaming", ` + version + `}`,
			engine.ManagerNode{State: "running", Role: "replica", Synchronous: true, Version: "4.0.7"},
		},
		"one that was chosen by name": {
			503, `{"state": "running", "role": "replica", "sync_standby": true, ` + version + `}`,
			engine.ManagerNode{State: "running", Role: "replica", Synchronous: true, Version: "4.0.7"},
		},
		"a leader whose server is being started": {
			200, `{"state": "starting", "role": "primary", ` + version + `}`,
			engine.ManagerNode{Holds: true, State: "starting", Role: "primary", Version: "4.0.7"},
		},
		"a copy that is being made": {
			503, `{"state": "creating replica", "role": "replica", "cluster_unlocked": true, ` + version + `}`,
			engine.ManagerNode{State: "creating replica", Role: "replica", Copying: true, Version: "4.0.7"},
		},
		"while nobody decides": {
			200, `{"state": "running", "role": "primary", "pause": true, ` + version + `}`,
			engine.ManagerNode{Holds: true, State: "running", Role: "primary", Paused: true, Version: "4.0.7"},
		},
	} {
		a := &restAPI{code: c.code, body: c.body}
		got, err := a.client(t).Node(t.Context())
		if err != nil || cmp.Diff(c.want, got) != "" || a.asked != "GET /primary " {
			t.Errorf("%s, asked by %q: %v (-want +got):\n%s", name, a.asked, err, cmp.Diff(c.want, got))
		}
	}
}

func TestWhatPatroniKnowsOfAllNodes(t *testing.T) {
	a := &restAPI{code: 200, body: `{"members": [
		{"name": "a-db-0", "role": "replica", "state": "stopped", "lag": "unknown"},
		{"name": "a-db-1", "role": "leader", "state": "running", "timeline": 3, "host": "10.0.0.2", "port": 5432},
		{"name": "a-db-2", "role": "quorum_standby", "state": "streaming", "timeline": 3, "lag": 0},
		{"name": "a-db-3", "role": "sync_standby", "state": "running", "lag": 16}], "scope": "a-db"}`}
	got, err := a.client(t).Cluster(t.Context())
	want := engine.ManagerCluster{Leader: "a-db-1", LeaderTimeline: 3, Running: 3, Streaming: 1, Synchronous: 2}
	if err != nil || got != want || a.asked != "GET /cluster " {
		t.Errorf("asked by %q: %+v, %v, want %+v", a.asked, got, err, want)
	}
	a.body = `{"members": [{"name": "a-db-0", "role": "replica", "state": "running"}], "scope": "a-db"}`
	if got, err := a.client(t).Cluster(t.Context()); err != nil || got != (engine.ManagerCluster{Running: 1}) {
		t.Errorf("without a leader: %+v, %v", got, err)
	}
}

func TestSettingsOfPatroni(t *testing.T) {
	for mode, want := range map[string]int{`false`: 0, `"off"`: 0, `true`: 2, `"on"`: 2, `"quorum"`: 2} {
		a := &restAPI{code: 200, body: `{"ttl": 20, "maximum_lag_on_failover": 1048576, "failsafe_mode": false, "synchronous_node_count": 2,
			"synchronous_mode": ` + mode + `, "postgresql": {"use_slots": true}}`}
		got, err := a.client(t).Settings(t.Context())
		if err != nil || got.Synchronous != want || got.TTL != 20*time.Second || a.asked != "GET /config " {
			t.Errorf("%s, asked by %q: %+v, %v", mode, a.asked, got, err)
		}
		delete(got.Words, "synchronous_mode")
		words := map[string]string{"ttl": "20", "maximum_lag_on_failover": "1048576", "failsafe_mode": "false", "synchronous_node_count": "2"}
		if diff := cmp.Diff(words, got.Words); diff != "" {
			t.Errorf("%s (-want +got):\n%s", mode, diff)
		}
	}
	a := &restAPI{code: 200, body: `{"synchronous_mode": "quorum"}`}
	if got, err := a.client(t).Settings(t.Context()); err != nil || got.Synchronous != 1 || got.TTL != 0 {
		t.Errorf("without a number of nodes: %+v, %v", got, err)
	}
}

func TestASwitchoverAndHowItEnded(t *testing.T) {
	for _, c := range []struct {
		code        int
		body        string
		to          string
		done, never bool
	}{
		{200, `Successfully switched over to "a-db-1"`, "a-db-1", true, false},
		{200, `Switched over to "a-db-2" instead of "a-db-1"`, "a-db-2", true, false},
		{412, "switchover is not possible: no good candidates have been found", "", false, true},
		{400, "Switchover is possible only to a specific candidate in a paused state", "", false, true},
		{401, "wrong password", "", false, true},
		{503, "Switchover failed", "", false, false},
		{503, "Switchover status unknown", "", false, false},
		{503, `Successfully switched over to "a-db-1"`, "", false, false},
		{200, "as in a version to come", "", false, false},
	} {
		a := &restAPI{code: c.code, body: c.body}
		to, err := a.client(t).SwitchOver(t.Context(), "a-db-0")
		if to != c.to || (err == nil) != c.done || errors.Is(err, engine.ErrSwitchOverRefused) != c.never {
			t.Errorf("%d %s: to %q, %v", c.code, c.body, to, err)
		}
		if a.asked != `POST /switchover {"leader":"a-db-0"}` || a.login != "replab:secret" {
			t.Errorf("asked by %q as %s", a.asked, a.login)
		}
	}
}

func TestPatroniIsPaused(t *testing.T) {
	a := &restAPI{code: 200, body: `{"pause": true}`}
	if err := a.client(t).Pause(t.Context()); err != nil || a.asked != `PATCH /config {"pause":true}` || a.login != "replab:secret" {
		t.Errorf("asked by %q as %s: %v", a.asked, a.login, err)
	}
	a.code = 409
	if err := a.client(t).Pause(t.Context()); err == nil {
		t.Error("no error where the store was changed by another")
	}
}

func TestAnAnswerThatIsNoneOfPatronis(t *testing.T) {
	for _, a := range []*restAPI{{code: 502}, {code: 200, body: "<html>"}, {code: 200, body: "{}"}, {code: 500, body: `{"state": "running"}`}} {
		if got, err := a.client(t).Node(t.Context()); err == nil {
			t.Errorf("%d %q: %+v, want an error", a.code, a.body, got)
		}
	}
	a := &restAPI{code: 502, body: "none yet"}
	if _, err := a.client(t).Settings(t.Context()); err == nil {
		t.Error("no error for settings that are not there")
	}
	if _, err := a.client(t).Cluster(t.Context()); err == nil {
		t.Error("no error for nodes that are not told")
	}
}
