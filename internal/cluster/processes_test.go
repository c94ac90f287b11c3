package cluster

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"replab.dev/internal/bounded"
	"replab.dev/internal/load/k6"
	"replab.dev/internal/topology"
	"replab.dev/internal/wire"
)

// asked is a request as a process gets it.
type asked struct{ Method, URL, Authorization, Body, Prefer string }

// processes reaches one server, whatever address is asked for; the server notes what it is asked.
func processes(t *testing.T, status int, answer string) (*Processes, *[]asked) {
	t.Helper()
	var got []asked
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got = append(got, asked{r.Method, "http://" + r.Host + r.URL.Path, r.Header.Get("Authorization"), string(body), r.Header.Get("Prefer")})
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(s.Close)
	p := NewProcesses()
	p.client.Transport.(bounded.Transport).Base.(*http.Transport).DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, s.Listener.Addr().String())
	}
	return p, &got
}

func TestWhatProcessesAreAsked(t *testing.T) {
	const pod, recorder = "10.0.0.7", "http://recorder:8400"
	fault := wire.FaultRequest{Name: "kill", PodUID: "uid", Action: "Kill"}
	for name, c := range map[string]struct {
		ask    func(context.Context, *Processes) error
		answer string
		want   asked
	}{
		"a fault": {
			func(ctx context.Context, p *Processes) error { _, err := p.Fault(ctx, "token", pod, fault); return err },
			`{}`,
			asked{"PUT", "http://10.0.0.7:8300/faults/kill", "Bearer token", `{"name":"kill","podUID":"uid","action":"Kill","holdMilliseconds":0}`, ""},
		},
		"how a fault stands": {
			func(ctx context.Context, p *Processes) error { _, err := p.FaultState(ctx, pod, "kill"); return err },
			`{}`,
			asked{"GET", "http://10.0.0.7:8300/faults/kill", "", "", ""},
		},
		"the end of a hold": {
			func(ctx context.Context, p *Processes) error {
				_, err := p.Release(ctx, "token", pod, "kill")
				return err
			},
			`{}`,
			asked{"DELETE", "http://10.0.0.7:8300/faults/kill", "Bearer token", "", ""},
		},
		"k6 how it stands": {
			func(ctx context.Context, p *Processes) error { _, err := p.K6State(ctx, pod); return err },
			`{"data":{"attributes":{"status":4,"paused":true}}}`,
			asked{"GET", "http://10.0.0.7:6565/v1/status", "", "", ""},
		},
		"k6 to begin": {
			func(ctx context.Context, p *Processes) error { return p.ResumeK6(ctx, pod) },
			"",
			asked{"PATCH", "http://10.0.0.7:6565/v1/status", "", string(k6.Resume()), ""},
		},
		"the recorder how it stands": {
			func(ctx context.Context, p *Processes) error { _, err := p.Recorder(ctx, recorder); return err },
			`{}`,
			asked{"GET", "http://recorder:8400/state", "", "", ""},
		},
		"the recorder to finish": {
			func(ctx context.Context, p *Processes) error { return p.FinishRecorder(ctx, "token", recorder) },
			"",
			asked{"POST", "http://recorder:8400/finish", "Bearer token", "", "return=minimal"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p, got := processes(t, http.StatusOK, c.answer)
			if err := c.ask(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]asked{c.want}, *got); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnAgentsRecordIsRead(t *testing.T) {
	p, _ := processes(t, http.StatusOK, `{"name":"kill","concluded":true,"confirmed":true,"evidence":"the process is gone"}`)
	r, err := p.FaultState(t.Context(), "10.0.0.7", "kill")
	if err != nil || r.Name != "kill" || !r.Concluded || !r.Confirmed || r.Evidence != "the process is gone" {
		t.Errorf("record %+v, %v", r, err)
	}
}

func TestARefusalIsToldInFull(t *testing.T) {
	p, _ := processes(t, http.StatusConflict, "the pod's UID is another\n")
	_, err := p.Fault(t.Context(), "token", "10.0.0.7", wire.FaultRequest{Name: "kill"})
	if err == nil || !strings.Contains(err.Error(), "PUT http://10.0.0.7:8300/faults/kill: 409 Conflict: the pod's UID is another") {
		t.Errorf("error %v", err)
	}
	if err != nil && strings.Contains(err.Error(), "token") {
		t.Errorf("error %v has the token", err)
	}
}

// TestEveryQuestionHasItsOwnAnswer: one that fails takes none from the others.
func TestEveryQuestionHasItsOwnAnswer(t *testing.T) {
	p, _ := processes(t, http.StatusOK, "fine")
	answers := p.Ask(t.Context(), []topology.Question{{Name: "a", URL: "http://a/role"}, {Name: "b", URL: "no-url"}})
	if string(answers["a"].Body) != "fine" || answers["a"].Err != "" {
		t.Errorf("a answered %+v", answers["a"])
	}
	if answers["b"].Err == "" {
		t.Errorf("b answered %+v, want an error", answers["b"])
	}
}

// TestHostileAnswersAreErrors: an editor of the namespace may answer in place of a pod.
func TestHostileAnswersAreErrors(t *testing.T) {
	for name, answer := range map[string]string{"long": strings.Repeat(" ", 2<<20), "of many objects": `{"peers":[{}` + strings.Repeat(",{}", 100_000) + `]}`} {
		p, _ := processes(t, http.StatusOK, answer)
		if _, err := p.LinksState(t.Context(), "10.0.0.7"); !errors.Is(err, bounded.ErrTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
		answers := p.Ask(t.Context(), []topology.Question{{Name: "a", URL: "http://10.0.0.7/"}})
		if a := answers["a"]; a.Err == "" || len(a.Body) > 0 {
			t.Errorf("%s: %d bytes are an answer, %q", name, len(a.Body), a.Err)
		}
	}
}
