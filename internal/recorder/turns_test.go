package recorder

import (
	"maps"
	"net/http"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"replab.dev/internal/wire"
	"replab.dev/test/benchmark"
)

// drainTime is enough for the app to answer what was under way when a turn ended.
const drainTime = 50 * time.Millisecond

// turns is a load that runs only in its turns: its k6, and the recorder in its path, are stopped for the rest of the time.
type turns struct {
	path      *path
	length    time.Duration // of a turn
	k6        *exec.Cmd
	recorder  *exec.Cmd        // nil for none
	processes map[string][]int // by part
}

// startTurns starts a k6, which ends with the test, and stops it once its load is warm.
func (p *path) startTurns(length time.Duration, url string, recorder *exec.Cmd) *turns {
	p.t.Helper()
	l := &turns{path: p, length: length, k6: p.commandK6(url), recorder: recorder}
	l.k6.Stderr = p.t.Output()
	if err := l.k6.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _, _ = l.k6.Process.Kill(), l.k6.Wait() })
	instruments := []int{l.k6.Process.Pid}
	if recorder != nil {
		instruments = append(instruments, recorder.Process.Pid)
	}
	if p.instruments != nil {
		for _, pid := range instruments {
			benchmark.Pin(p.t, pid, *p.instruments)
		}
	}
	l.processes = maps.Clone(p.processes)
	l.processes[partK6] = []int{l.k6.Process.Pid}
	if recorder != nil {
		l.processes[partRecorder] = []int{recorder.Process.Pid}
	}
	before, _ := p.requests()
	eventually(p.t, "the load is warm", func() bool {
		now, _ := p.requests()
		return now > before+2000
	})
	l.signal(syscall.SIGSTOP)
	return l
}

// turn lets the load run for its turn. What the app answered in it, and while what was under way came to its end, counts.
func (l *turns) turn() round {
	before, _ := l.path.requests()
	used := l.used()
	l.signal(syscall.SIGCONT)
	began := time.Now()
	time.Sleep(l.length) // this is the turn
	l.signal(syscall.SIGSTOP)
	took := time.Since(began)
	time.Sleep(drainTime) // see there
	after, _ := l.path.requests()
	return newRound(after-before, took, used, l.used())
}

// used is the processor time of each part so far.
func (l *turns) used() map[string]time.Duration {
	used := map[string]time.Duration{}
	for part, pids := range l.processes {
		for _, pid := range pids {
			used[part] += benchmark.TreeTime(l.path.t, pid)
		}
	}
	return used
}

func (l *turns) signal(s syscall.Signal) {
	if err := l.k6.Process.Signal(s); err != nil {
		l.path.t.Fatalf("k6: %v", err)
	}
	if l.recorder == nil {
		return
	}
	if err := l.recorder.Process.Signal(s); err != nil {
		l.path.t.Fatalf("the recorder: %v", err)
	}
}

// checkRequests fails the test where the load did not do its work. A read of a user that a replica does not have yet fails.
func (p *path) checkRequests() {
	p.t.Helper()
	if all, failed := p.requests(); failed > all/10 {
		p.t.Errorf("%d of %d requests failed", failed, all)
	}
}

// requests are those that the app has answered so far.
func (p *path) requests() (all, failed int64) {
	p.t.Helper()
	r, err := http.Get("http://" + p.app.Host + ":" + strconv.Itoa(p.app.Port) + wire.SocialPathMetrics)
	if err != nil {
		p.t.Fatal(err)
	}
	defer r.Body.Close()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(r.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, m := range families["replab_social_requests_total"].GetMetric() {
		n := int64(m.GetCounter().GetValue())
		all += n
		for _, label := range m.GetLabel() {
			if label.GetName() == "code" && label.GetValue()[0] != '2' {
				failed += n
			}
		}
	}
	return all, failed
}
