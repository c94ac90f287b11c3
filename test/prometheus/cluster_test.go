//go:build e2e

package prometheus

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/api"
	v1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"
)

// service is that of every Prometheus which the Prometheus operator runs, where replab-stack and `make cluster-prometheus` have it.
const service = "/api/v1/namespaces/monitoring/services/prometheus-operated:9090/proxy"

// step between the moments of a span, which is the interval of the PodMonitor.
const step = 5 * time.Second

// cluster is the one of KUBECONFIG.
type cluster struct {
	kubectl    string
	prometheus v1.API
}

// connect reaches Prometheus through the API server, for as long as the test runs.
func connect(t *testing.T) cluster {
	t.Helper()
	c := cluster{kubectl: cmp.Or(os.Getenv("REPLAB_KUBECTL"), "kubectl")}
	proxy := exec.CommandContext(t.Context(), c.kubectl, "proxy", "--port=0")
	out, err := proxy.StdoutPipe()
	if err == nil {
		err = proxy.Start()
	}
	if err != nil {
		t.Fatalf("start kubectl proxy: %v", err)
	}
	t.Cleanup(func() { _ = proxy.Wait() }) // killed with the context
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("kubectl proxy says no address: %q, %v", line, err)
	}
	client, err := api.NewClient(api.Config{Address: "http://" + strings.TrimSpace(line[strings.LastIndex(line, " ")+1:]) + service})
	if err != nil {
		t.Fatal(err)
	}
	c.prometheus = v1.NewAPI(client)
	return c
}

// do has kubectl do something, with input on its standard input.
func (c cluster) do(t *testing.T, input string, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), c.kubectl, args...)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.Output()
	if err != nil {
		var failed *exec.ExitError
		if errors.As(err, &failed) {
			err = fmt.Errorf("%w: %s", err, failed.Stderr)
		}
		t.Fatalf("kubectl %s: %v", strings.Join(args, " "), err)
	}
	return out
}

// get reads an object or a list.
func (c cluster) get(t *testing.T, to any, args ...string) {
	t.Helper()
	if err := json.Unmarshal(c.do(t, "", append([]string{"get", "--output", "json"}, args...)...), to); err != nil {
		t.Fatalf("kubectl get %v: %v", args, err)
	}
}

// known is in warnings about percentiles beyond all successes, which are meant to be infinite: docs/reference/metrics.md says why.
var known = regexp.MustCompile(`quantile value should be between 0 and 1|more warning annotations omitted`)

// ask Prometheus what Grafana would, about a span of time. What else it warns of is an error here.
func (c cluster) ask(ctx context.Context, q query, from, to time.Time) (model.Value, error) {
	var answer model.Value
	var warnings v1.Warnings
	var err error
	if q.instant {
		answer, warnings, _, err = c.prometheus.Query(ctx, q.expr, to)
	} else {
		answer, warnings, _, err = c.prometheus.QueryRange(ctx, q.expr, v1.Range{Start: from, End: to, Step: step})
	}
	warnings = slices.DeleteFunc(warnings, known.MatchString)
	if err == nil && len(warnings) > 0 {
		err = fmt.Errorf("warnings: %q", warnings)
	}
	return answer, err
}

// await asks again until there is nothing that is missing.
func await(t *testing.T, timeout time.Duration, missing func() string) {
	t.Helper()
	began, last := time.Now(), ""
	for {
		now := missing()
		if now == "" {
			return
		}
		if now != last {
			t.Logf("%3.0f s  %s", time.Since(began).Seconds(), now)
			last = now
		}
		if time.Since(began) > timeout {
			t.Fatalf("after %s: %s", timeout, now)
		}
		time.Sleep(2 * time.Second) // between two looks
	}
}
