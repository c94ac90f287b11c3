package director

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"replab.dev/internal/wire"
)

// serve runs a director on a scene behind its HTTP interface.
func serve(t *testing.T, s *scene) *httptest.Server {
	t.Helper()
	d := newDirector(s.cfg, &stage{scene: s}, stored(s), func(wire.DirectorState) {})
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := d.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	server := httptest.NewServer(handler(d, token))
	t.Cleanup(func() { server.Close(); cancel(); running.Wait() })
	return server
}

func TestHTTP(t *testing.T) {
	for name, c := range map[string]struct {
		method, path, body, token string
		want                      int
	}{
		"health needs no token":                {"GET", wire.DirectorPathHealth, "", "", 200},
		"the clock needs no token":             {"GET", wire.DirectorPathClock, "", "", 200},
		"its resources need no token":          {"GET", wire.AgentPathResources, "", "", 200},
		"the state needs no token":             {"GET", wire.DirectorPathState, "", "", 200},
		"a rejoin needs the token":             {"POST", wire.DirectorPathRejoin, `{"node":"a"}`, "", 401},
		"a rejoin of an isolated node":         {"POST", wire.DirectorPathRejoin, `{"node":"a"}`, token, 202},
		"a rejoin of the primary":              {"POST", wire.DirectorPathRejoin, `{"node":"b"}`, token, 409},
		"a rejoin of a node that is not there": {"POST", wire.DirectorPathRejoin, `{"node":"z"}`, token, 404},
		"a rejoin of nothing":                  {"POST", wire.DirectorPathRejoin, ``, token, 400},
		"a rejoin with a field too many":       {"POST", wire.DirectorPathRejoin, `{"node":"a","force":true}`, token, 400},
		"a switchover needs the token":         {"POST", wire.DirectorPathSwitchover, `{"name":"s","from":"b"}`, "", 401},
		"a switchover from the primary":        {"POST", wire.DirectorPathSwitchover, `{"name":"s","from":"b"}`, token, 202},
		"a switchover from a replica":          {"POST", wire.DirectorPathSwitchover, `{"name":"s","from":"c"}`, token, 409},
		"a switchover from nobody":             {"POST", wire.DirectorPathSwitchover, `{"name":"s","from":"z"}`, token, 404},
		"a switchover without a name":          {"POST", wire.DirectorPathSwitchover, `{"from":"b"}`, token, 404},
		"the state cannot be posted":           {"POST", wire.DirectorPathState, "", token, 405},
		"anything else":                        {"GET", "/other", "", token, 404},
	} {
		t.Run(name, func(t *testing.T) {
			server := serve(t, returned())
			request, err := http.NewRequestWithContext(t.Context(), c.method, server.URL+c.path, strings.NewReader(c.body))
			if err != nil {
				t.Fatal(err)
			}
			if c.token != "" {
				request.Header.Set("Authorization", "Bearer "+c.token)
			}
			response, err := server.Client().Do(request)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			if response.StatusCode != c.want {
				t.Errorf("answered %s, want %d", response.Status, c.want)
			}
		})
	}
}

func TestStateIsServedAsJSON(t *testing.T) {
	server := serve(t, returned())
	response, err := server.Client().Get(server.URL + wire.DirectorPathState)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var state wire.DirectorState
	if err := json.NewDecoder(response.Body).Decode(&state); err != nil {
		t.Fatal(err)
	}
	if state.Epoch != 2 && state.Epoch != 0 { // 0: before it was loaded
		t.Errorf("state is %s", document(state))
	}
}
