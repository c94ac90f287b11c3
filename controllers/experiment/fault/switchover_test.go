package fault

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/httpclient"
	"replab.dev/internal/topology"
)

// asked notes what a topology's manager is asked for.
type askedManager struct {
	names []string
	err   error
}

func (m *askedManager) Switchover(_ context.Context, _, name, from string) error {
	m.names = append(m.names, name+" from "+from)
	return m.err
}

// refusal of a manager with this status.
func refusal(t *testing.T, code int) error {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }))
	defer server.Close()
	_, err := httpclient.Do(t.Context(), server.Client(), httpclient.Request{Method: http.MethodPost, URL: server.URL})
	return err
}

func TestWhatBecomesOfASwitchover(t *testing.T) {
	known := func(outcome topology.SwitchoverOutcome, since time.Duration) func(*lab) {
		return func(l *lab) {
			l.state.Switchovers = []topology.Switchover{{
				Name: "crash", RequestedAt: *ago(since), OldWriter: "x-db-0", NewWriter: "x-db-1", Outcome: outcome, Why: "x-db-1 lags",
			}}
			if outcome == topology.SwitchoverDone {
				l.state.Writers[0], l.state.Nodes[0].Role, l.state.Nodes[1].Role = "x-db-1", topology.Reader, topology.Writer
			}
		}
	}
	unknown := func(l *lab) { l.state = topology.State{Why: "the director does not answer"} }
	for _, c := range []struct {
		name     string
		state    v1alpha1.FaultState
		change   func(*lab)
		err      error
		silence  time.Duration
		loadOver bool
		want     v1alpha1.FaultState
		text     string
		asked    int
	}{
		{"it is asked for", v1alpha1.FaultPlanned, nil, nil, 0, false, v1alpha1.FaultPlanned, "", 1},
		{"it is refused", v1alpha1.FaultPlanned, nil, refusal(t, 409), 0, false, v1alpha1.FaultUnconfirmed, "the topology refused it", 1},
		{"who is asked cannot take it now", v1alpha1.FaultPlanned, nil, refusal(t, 503), 0, false, v1alpha1.FaultPlanned, "", 1},
		{"who is asked does not answer", v1alpha1.FaultPlanned, nil, errors.New("connection refused"), 0, false, v1alpha1.FaultPlanned, "", 1},
		{"for long", v1alpha1.FaultPlanned, nil, errors.New("connection refused"), 21 * time.Second, false, v1alpha1.FaultUnconfirmed, "its result is unknown", 1},
		{"it is under way", v1alpha1.FaultPlanned, known(topology.SwitchoverUnderWay, time.Second), nil, 0, false, v1alpha1.FaultInjected, "", 0},
		{"it takes too long", v1alpha1.FaultInjected, known(topology.SwitchoverUnderWay, time.Minute), nil, 0, false, v1alpha1.FaultUnconfirmed, "not done within 30s: x-db-1 lags", 0},
		{"it came to nothing", v1alpha1.FaultInjected, known(topology.SwitchoverFailed, time.Second), nil, 0, false, v1alpha1.FaultUnconfirmed, "came to nothing: x-db-1 lags", 0},
		{"it is done", v1alpha1.FaultInjected, known(topology.SwitchoverDone, time.Second), nil, 0, false, v1alpha1.FaultConfirmed, "x-db-1 took over", 0},
		{"it is done, and nobody has written down that it was asked for", v1alpha1.FaultPlanned, known(topology.SwitchoverDone, time.Second), nil, 0, false, v1alpha1.FaultConfirmed, "x-db-1 took over", 0},
		{"also where the load is over since", v1alpha1.FaultPlanned, known(topology.SwitchoverDone, time.Second), nil, 0, true, v1alpha1.FaultConfirmed, "x-db-1 took over", 0},
		{"it is not asked for after the load", v1alpha1.FaultPlanned, nil, nil, 0, true, v1alpha1.FaultUnconfirmed, "the load had ended", 0},
		{"nor of who is primary no more", v1alpha1.FaultPlanned, (*lab).demoted, nil, 0, false, v1alpha1.FaultUnconfirmed, "Isolated when the fault was due", 0},
		{"nor while nobody knows who is", v1alpha1.FaultPlanned, unknown, nil, 0, false, v1alpha1.FaultPlanned, "", 0},
		{"what became of it is awaited", v1alpha1.FaultInjected, unknown, nil, 0, false, v1alpha1.FaultInjected, "", 0},
		{"not for ever", v1alpha1.FaultInjected, unknown, nil, 21 * time.Second, false, v1alpha1.FaultUnconfirmed, "the topology does not answer: the director does not answer", 0},
		{"another pod has its name", v1alpha1.FaultPlanned, func(l *lab) { l.pod.UID = "next" }, nil, 0, false, v1alpha1.FaultUnconfirmed, "gone before", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, m := newLab(), &askedManager{err: c.err}
			if c.change != nil {
				c.change(l)
			}
			e := v1alpha1.FaultStatus{State: c.state, PlannedTime: *ago(time.Second)}
			if c.silence > 0 {
				e.SilentTime = ago(c.silence)
			}
			s := l.scene(v1alpha1.Fault{Target: v1alpha1.TargetPrimary, Action: v1alpha1.ActionSwitchover}, e)
			s.Manager = m
			out, err := Inject(t.Context(), s, noon, c.loadOver)
			got := (*s.Status)[0]
			if err != nil || out.Terminal || out.Done == pending(&got) {
				t.Errorf("came to %+v, %v in state %s", out, err, got.State)
			}
			if got.State != c.want || !strings.Contains(got.Evidence, c.text) || len(m.names) != c.asked || len(l.asked) != 0 {
				t.Errorf("%s: %q; asked for %v and the agent for %v", got.State, got.Evidence, m.names, l.asked)
			}
			if known := len(l.state.Switchovers) > 0; known != (got.InjectedTime != nil) {
				t.Errorf("injected at %v", got.InjectedTime)
			}
		})
	}
}
