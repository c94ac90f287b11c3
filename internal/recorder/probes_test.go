package recorder

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"replab.dev/internal/wire"
)

// TestAvailability moves the writes from node a to node b, with an outage of 300 ms in between.
func TestAvailability(t *testing.T) {
	var acknowledged, failed atomic.Int64
	node := atomic.Pointer[string]{}
	b := newBench(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			if node.Load() == nil {
				failed.Add(1)
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			acknowledged.Add(1)
		}
		if n := node.Load(); n != nil {
			w.Header().Set(wire.HeaderNode, *n)
		}
	})
	b.cfg.AvailabilityIntervalMilliseconds = 10
	b.run()
	node.Store(new("a"))
	if _, body := b.get("http://" + b.cfg.Listen + wire.SocialPathSearch); len(body) != 0 { // the load starts
		t.Errorf("body %s", body)
	}
	eventually(t, "writes are acknowledged by a", func() bool { return acknowledged.Load() > 5 })
	node.Store(nil)
	eventually(t, "writes have failed", func() bool { return failed.Load() > 30 })
	node.Store(new("b"))
	before := acknowledged.Load()
	eventually(t, "writes are acknowledged by b", func() bool { return acknowledged.Load() > before+5 })

	_, got := b.finish()
	a := got.Availability
	// One that the app was too slow to answer counts as failed, whatever the app thinks.
	if a.Sent < acknowledged.Load()+failed.Load() || a.Acknowledged > acknowledged.Load() || a.Acknowledged == 0 || a.IntervalMilliseconds != 10 {
		t.Errorf("the probe says %+v, the app has %d acknowledged and %d failed", a, acknowledged.Load(), failed.Load())
	}
	i := slices.IndexFunc(a.Gaps, func(g wire.Gap) bool { return g.LastNode == "a" && g.NextNode == "b" })
	if i < 0 || a.Gaps[i].Errors < 20 || *a.Gaps[i].DurationMicroseconds <= 0 || a.Gaps[i].FirstErrorAt == nil {
		t.Errorf("gaps %+v, want one from a to b with most of %d errors", a.Gaps, failed.Load())
	}
	s := a.Silences
	silent := slices.ContainsFunc(s.Longest, func(l wire.Silence) bool { return l.LengthMicroseconds == *a.Gaps[i].DurationMicroseconds })
	if !s.From.Equal(got.LoadStartedAt) || !silent || got.LoadEndedAt == nil || got.LoadEndedAt.Before(got.LoadStartedAt) {
		t.Errorf("silences %+v, load from %v to %v; the gap is %+v", s, got.LoadStartedAt, got.LoadEndedAt, a.Gaps[i])
	}
	if got.Load.Requests != 1 || got.Writes.Sent != 0 {
		t.Errorf("the load has %d requests and %d writes: the probe's are among them", got.Load.Requests, got.Writes.Sent)
	}
	if last := got.Timeline[len(got.Timeline)-1]; got.Timeline[0].Writer == "" && last.Writer != "b" {
		t.Errorf("timeline %+v", got.Timeline)
	}
}

// TestSilencesAreTheDatabasesOrTheRecorders stops a recorder for longer than its probes wait for answers, and then has the app
// answer nothing for a while.
func TestSilencesAreTheDatabasesOrTheRecorders(t *testing.T) {
	var acknowledged atomic.Int64
	var silence sync.RWMutex
	b := newBench(t, func(w http.ResponseWriter, _ *http.Request) {
		silence.RLock()
		defer silence.RUnlock()
		acknowledged.Add(1)
		w.Header().Set(wire.HeaderNode, "a")
	})
	b.cfg.AvailabilityIntervalMilliseconds = 10
	recorder := startProcess(t, childConfig, b.cfg)
	more := func() {
		enough := acknowledged.Load() + 20
		eventually(t, "writes are acknowledged", func() bool { return acknowledged.Load() >= enough })
	}
	send := func(s syscall.Signal) {
		if err := recorder.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "the load has started", func() bool {
		r, err := http.Get("http://" + b.cfg.Listen + wire.SocialPathSearch)
		if err == nil {
			r.Body.Close()
		}
		return err == nil
	})
	more()
	send(syscall.SIGSTOP)
	time.Sleep(probeTimeout) // the length of a stop and of a silence is what is tested
	stopped := time.Now()
	time.Sleep(probeTimeout / 2) // see above
	send(syscall.SIGCONT)
	more()
	silence.Lock()
	time.Sleep(200 * time.Millisecond) // see above
	silent := time.Now()
	time.Sleep(200 * time.Millisecond) // see above
	silence.Unlock()
	more()

	b.get("http://" + b.cfg.Listen + wire.SocialPathSearch)
	_, got := b.finish()
	if paused := time.Duration(got.Load.PausedMicroseconds) * time.Microsecond; paused < probeTimeout {
		t.Errorf("the recorder was stopped for more than %v; the load is %+v", probeTimeout, got.Load)
	}
	found := false
	for _, g := range got.Availability.Gaps {
		if g.NextAcknowledgedAt == nil {
			continue
		}
		covers := func(at time.Time) bool { return g.LastAcknowledgedAt.Time.Before(at) && g.NextAcknowledgedAt.After(at) }
		if covers(stopped) && time.Duration(g.PausedMicroseconds)*time.Microsecond < probeTimeout {
			t.Errorf("the recorder was stopped at %v, but %+v is the database's", stopped, g)
		}
		found = found || covers(silent)
	}
	if !found || got.Availability.StallMilliseconds != 100 {
		t.Errorf("the app was silent at %v, but the gaps are %+v", silent, got.Availability)
	}
}

// TestProbeIDsAreNeverUsedTwice looks at what the app gets from a recorder and from the one after it.
func TestProbeIDsAreNeverUsedTwice(t *testing.T) {
	var mu sync.Mutex
	seen := map[string]int{}
	b := newBench(t, func(w http.ResponseWriter, r *http.Request) {
		if id, ok := strings.CutPrefix(r.URL.Path, wire.SocialPathProbe); ok {
			mu.Lock()
			seen[id]++
			mu.Unlock()
		}
	})
	b.cfg.AvailabilityIntervalMilliseconds = 1
	count := func() int { mu.Lock(); defer mu.Unlock(); return len(seen) }
	_, stop := b.run()
	b.register()
	eventually(t, "probes are sent", func() bool { return count() > 20 })
	stop()
	before := count()
	b.run() // in the middle of the load: it goes on by itself
	eventually(t, "the next recorder sends probes", func() bool { return count() > before+20 })
	mu.Lock()
	defer mu.Unlock()
	for id, n := range seen {
		if n > 1 {
			t.Errorf("id %s was used %d times", id, n)
		}
	}
}

func TestResourcesOfNodesAndProcesses(t *testing.T) {
	var n atomic.Int64
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != wire.AgentPathResources {
			t.Errorf("the agent is asked for %s", r.URL.Path)
		}
		i := n.Add(1)
		fmt.Fprintf(w, `{"at":%q,"cpuMicroseconds":%d,"residentBytes":%d,"serverPID":7}`,
			time.Now().UTC().Format("2006-01-02T15:04:05.000000Z"), i*500_000, 1000+i)
	}))
	defer agent.Close()
	b := newBench(t, answering(200))
	b.cfg.Nodes = []wire.Node{{Name: "node-0", Host: "127.0.0.1"}, {Name: "node-1", Host: "away"}}
	b.env.agent = func(node wire.Node) string {
		if node.Host == "away" {
			return b.cfg.ListenControl // there is no such path
		}
		return agent.Listener.Addr().String()
	}
	b.cfg.Processes = []wire.ProcessSource{{Name: "app", URL: agent.URL, Each: true}, {Name: "gone", URL: "http://" + b.cfg.ListenControl}}
	b.run()
	eventually(t, "two samples in the load", func() bool {
		b.get("http://" + b.cfg.Listen + wire.SocialPathSearch)
		return n.Load() >= 8
	})
	_, got := b.finish()
	if len(got.Resources) != 3 || got.Resources[1].Node != "app" || got.Resources[2].Node != wire.ProcessRecorder || got.Resources[2].ThreadsPeak < 1 {
		t.Errorf("resources %+v, want node, app, recorder", got.Resources)
	}
	if got.Resources[0].Node != "node-0" || got.Resources[0].Stage != "steady" ||
		got.Resources[0].ResidentPeakBytes < 1003 || got.Resources[0].CPUMillicores <= 0 {
		t.Errorf("resources %+v", got.Resources)
	}
	if len(got.Clocks) != 1 || got.Clocks[0].Name != "node-0" || got.Clocks[0].LeastAheadMicroseconds > 0 || got.Clocks[0].MostAheadMicroseconds < 0 {
		t.Errorf("clocks %+v, want that of node-0, which is this machine's", got.Clocks)
	}
}

// TestClocksOfNodesOutOfSight are known, though nothing is of what their servers use.
func TestClocksOfNodesOutOfSight(t *testing.T) {
	var n atomic.Int64
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n.Add(1)
		fmt.Fprintf(w, `{"at":%q,"outOfSight":true}`, time.Now().UTC().Format("2006-01-02T15:04:05.000000Z"))
	}))
	defer agent.Close()
	b := newBench(t, answering(200))
	b.cfg.Nodes = []wire.Node{{Name: "node-0", Host: "127.0.0.1"}}
	b.env.agent = func(wire.Node) string { return agent.Listener.Addr().String() }
	b.run()
	eventually(t, "two samples in the load", func() bool {
		b.get("http://" + b.cfg.Listen + wire.SocialPathSearch)
		return n.Load() >= 4
	})
	_, got := b.finish()
	if len(got.Resources) != 1 || got.Resources[0].Node != wire.ProcessRecorder || len(got.Clocks) != 1 || got.Clocks[0].Name != "node-0" {
		t.Errorf("resources %+v, clocks %+v: want the clock, and nothing of the node", got.Resources, got.Clocks)
	}
}

// TestWhatTheAgentsHoldUp is told by stages, also of a node whose server does not run.
func TestWhatTheAgentsHoldUp(t *testing.T) {
	var n atomic.Int64
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != wire.AgentPathLinkCounts {
			http.Error(w, "no server runs", http.StatusServiceUnavailable)
			return
		}
		i := n.Add(1)
		fmt.Fprintf(w, `{"session":"s","packets":%d,"late":%d,"heldUp":1}`, i*100, i)
	}))
	defer agent.Close()
	b := newBench(t, answering(200))
	b.cfg.CountLinks, b.cfg.Nodes = true, []wire.Node{{Name: "node-0", Host: "127.0.0.1"}}
	b.env.agent = func(wire.Node) string { return agent.Listener.Addr().String() }
	b.run()
	eventually(t, "three samples in the load", func() bool {
		b.get("http://" + b.cfg.Listen + wire.SocialPathSearch)
		return n.Load() >= 4
	})
	_, got := b.finish()
	if len(got.Links) != 1 || got.Links[0].Node != "node-0" || got.Links[0].Stage != "steady" || got.Links[0].DelayedPackets < 100 ||
		got.Links[0].DelayedPackets%100 != 0 || got.Links[0].LatePackets < got.Links[0].DelayedPackets/100 || got.Links[0].HeldUpPackets != 0 {
		t.Errorf("links %+v", got.Links)
	}
}

// TestProbesPauseAtRest: neither is the rest an outage.
func TestProbesPauseAtRest(t *testing.T) {
	var sent atomic.Int64
	b := newBench(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			sent.Add(1)
		}
		w.Header().Set(wire.HeaderNode, "a")
	})
	var sampled atomic.Int64
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"at":%q,"residentBytes":%d,"serverPID":7}`, time.Now().UTC().Format("2006-01-02T15:04:05.000000Z"), sampled.Add(1))
	}))
	defer agent.Close()
	b.env.agent = func(wire.Node) string { return agent.Listener.Addr().String() }
	b.cfg.Nodes = []wire.Node{{Name: "node-0", Host: "127.0.0.1"}}
	b.cfg.AvailabilityIntervalMilliseconds = 10
	b.cfg.Stages = []wire.Stage{{Name: "steady", DurationSeconds: 1}, {Name: "idle", DurationSeconds: 1000, Rest: true}}
	w, _ := b.run()
	b.get("http://" + b.cfg.Listen + wire.SocialPathSearch)
	eventually(t, "the probe writes", func() bool { return sent.Load() > 5 })
	eventually(t, "it is at rest", w.forwarder.figures.Resting)
	eventually(t, "writes under way are done", func() bool {
		before := sent.Load()
		time.Sleep(300 * time.Millisecond) // thirty intervals, and longer than a stall
		return sent.Load() == before
	})
	resting := sampled.Load()
	eventually(t, "two more samples", func() bool { return sampled.Load() >= resting+2 })
	_, got := b.finish()
	if !slices.ContainsFunc(got.Resources, func(r wire.NodeResources) bool { return r.Stage == "idle" && r.ResidentPeakBytes > 0 }) {
		t.Errorf("the rest has no resources: %+v", got.Resources)
	}
	if last := got.Availability.Silences.Last; last != nil && last.LengthMicroseconds >= 300_000 {
		t.Errorf("the rest is an outage: %+v", last)
	}
	if idle := got.Stages[1]; idle.StartedAt == nil || idle.Requests != 0 || idle.Latency != nil {
		t.Errorf("the rest is %+v", idle)
	}
}
