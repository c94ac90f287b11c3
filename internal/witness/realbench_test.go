package witness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"replab.dev/internal/mysqltest"
	"replab.dev/internal/protocol"
)

// benchScript is a closed loop of registers, profiles and searches in equal parts.
const benchScript = `import http from 'k6/http';
export const options = { scenarios: { load: { executor: 'constant-vus', vus: Number(__ENV.USERS), duration: __ENV.SECONDS + 's', gracefulStop: '10s' } } };
const json = { headers: { 'Content-Type': 'application/json', 'Replab-Stage': 'steady' } };
const plain = { headers: { 'Replab-Stage': 'steady' } };
export default function () {
  switch (__ITER % 3) {
    case 0: http.post(__ENV.URL + '/user/register', JSON.stringify({ first_name: 'Ada', second_name: 'Lovelace', city: 'London', password: 'secret' }), json); break;
    case 1: http.get(__ENV.URL + '/user/get/' + (1 + Math.floor(Math.random() * 1000)), plain); break;
    default: http.get(__ENV.URL + '/user/search?first_name=name' + Math.floor(Math.random() * 100) + '&last_name=last', plain);
  }
}
export function handleSummary(data) {
  const failed = data.metrics.http_req_failed ? data.metrics.http_req_failed.values.passes : 0;
  return { stdout: JSON.stringify({ requests: data.metrics.http_reqs.values.count, failed: failed, seconds: data.state.testRunDurationMs / 1000 }) };
}
`

// BenchmarkRealPath puts the load of a real k6 on a real app and server, with and without a witness in its own process,
// in pairs of random order. It reports the median ratio of the throughputs, and what a request costs in processor time
// over all processes, which other work on the machine disturbs less.
func BenchmarkRealPath(b *testing.B) {
	k6 := findK6(b)
	const pairs, users, seconds = 5, 20, 6
	server := mysqltest.Start(b, "primary")
	server.Open()
	server.Exec(`INSERT INTO social.users (first_name, last_name, password)
WITH RECURSIVE n AS (SELECT 0 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 999)
SELECT CONCAT('name', i), CONCAT('last', i), '' FROM n`)
	app, social := startSocial(b, server, server)
	w, door := startWitness(b, app)
	script := filepath.Join(b.TempDir(), "load.js")
	if err := os.WriteFile(script, []byte(benchScript), 0o600); err != nil {
		b.Fatal(err)
	}
	direct := fmt.Sprintf("http://%s:%d", app.Host, app.Port)
	processes := []int{social.Process.Pid, w.Process.Pid, server.Process().Pid}
	run := func(url string) (rate, cpu float64) { return runK6(b, k6, script, url, users, seconds, processes) }
	run(direct)
	run(door)
	for b.Loop() {
		var rates, costs []float64
		for range pairs {
			var rate, cpu [2]float64
			first := rand.IntN(2)
			for i := range 2 {
				k := (first + i) % 2
				rate[k], cpu[k] = run([]string{direct, door}[k])
			}
			b.Logf("direct %.0f/s at %.0f µs, through %.0f/s at %.0f µs of processor time", rate[0], cpu[0], rate[1], cpu[1])
			rates, costs = append(rates, rate[1]/rate[0]), append(costs, cpu[0]/cpu[1])
		}
		slices.Sort(rates)
		slices.Sort(costs)
		b.ReportMetric(rates[pairs/2], "throughput-through/direct")
		b.ReportMetric(costs[pairs/2], "cpu-direct/through")
	}
}

func findK6(b *testing.B) string {
	_, file, _, _ := runtime.Caller(0)
	local := filepath.Join(filepath.Dir(file), "..", "..", ".lab", "bin", "k6")
	for _, name := range []string{"k6", local} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	b.Skip("no k6 here")
	return ""
}

// startWitness runs a witness in a process of its own before app, and returns its front door's URL.
func startWitness(b *testing.B, app protocol.Endpoint) (*exec.Cmd, string) {
	b.Helper()
	cfg := protocol.WitnessConfig{
		Namespace: "default", StateMap: "witness", Listen: freeAddress(b), ListenControl: freeAddress(b),
		App: app, SecretDir: mysqltest.SecretDir(b), LedgerPath: filepath.Join(b.TempDir(), "ledger"), Engine: "MySQL",
		Stages: stages, RequestTimeoutMilliseconds: 10_000,
	}
	cmd := startProcess(b, childConfig, cfg)
	eventually(b, "the witness serves", func() bool {
		c, err := net.Dial("tcp", cfg.Listen)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	return cmd, "http://" + cfg.Listen
}

// runK6 returns the requests per second, and the microseconds of processor time per request of k6 and the processes.
func runK6(b *testing.B, k6, script, url string, users, seconds int, processes []int) (rate, cpu float64) {
	b.Helper()
	before := processorTime(b, processes)
	cmd := exec.Command(k6, "run", "--quiet", "--no-usage-report", script)
	cmd.Env = append(os.Environ(), "URL="+url, fmt.Sprint("USERS=", users), fmt.Sprint("SECONDS=", seconds))
	out, err := cmd.Output()
	if err != nil {
		b.Fatalf("k6: %v\n%s", err, out)
	}
	var summary struct{ Requests, Failed, Seconds float64 }
	if err := json.Unmarshal(out, &summary); err != nil {
		b.Fatalf("k6 said %s: %v", out, err)
	}
	if summary.Failed > 0 {
		b.Fatalf("%.0f of %.0f requests failed", summary.Failed, summary.Requests)
	}
	used := processorTime(b, processes) - before + cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return summary.Requests / summary.Seconds, float64(used.Microseconds()) / summary.Requests
}

// processorTime reads what processes used of the processors, user and system, see proc(5).
func processorTime(b *testing.B, processes []int) (total time.Duration) {
	const tick = 10 * time.Millisecond
	for _, pid := range processes {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			b.Fatal(err)
		}
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		for _, field := range fields[11:13] { // utime, stime
			n, err := strconv.Atoi(field)
			if err != nil {
				b.Fatal(err)
			}
			total += time.Duration(n) * tick
		}
	}
	return total
}
