package postgres_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"replab.dev/internal/engine/postgres"
	"replab.dev/internal/engine/postgres/postgrestest"
	"replab.dev/internal/lag"
	"replab.dev/internal/wire"
	"replab.dev/test/benchmark"
)

// TestBenchLagProbe measures what the probe's polling costs idle servers, a primary and two standbys, at the interval of experiments that
// say nothing of it.
func TestBenchLagProbe(t *testing.T) {
	benchmark.Skip(t)
	const interval, watched = 200 * time.Millisecond, 30 * time.Second
	primary := postgrestest.Start(t, "a-db-0")
	all := []*postgrestest.Server{primary, primary.Standby("a-db-1"), primary.Standby("a-db-2")}
	var nodes []wire.Node
	for _, s := range all {
		nodes = append(nodes, wire.Node{Name: s.Name, Host: host(s)})
	}
	used := func() (each []time.Duration) {
		for _, s := range all {
			each = append(each, benchmark.TreeTime(t, s.Process().Pid))
		}
		return append(each, benchmark.ProcessorTime(t, os.Getpid()))
	}
	// share is what each uses of a core while it is watched.
	share := func() (each []float64) {
		from := used()
		time.Sleep(watched)
		for i, now := range used() {
			each = append(each, 100*float64(now-from[i])/float64(watched))
		}
		return each
	}
	without := share()
	var ids atomic.Uint64
	p, err := lag.New(lag.Config{
		Open: lag.Opens(postgres.NewLag), Nodes: nodes, Writes: primary.Endpoint(), Secret: postgrestest.Password,
		Interval: interval, PayloadBytes: []int64{100}, ProbeIDs: func() uint64 { return ids.Add(1) }, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- p.Run(ctx) }()
	for p.Result().Samples < 20 {
		time.Sleep(interval)
	}
	with := share()
	stop()
	<-done
	var text string
	var total float64
	for i, name := range []string{"primary", "standby", "standby", "probe"} {
		text += fmt.Sprintf("%s %.2f%%, ", name, with[i]-without[i])
		total += with[i] - without[i]
	}
	benchmark.Figure{What: "lag, PostgreSQL: of a core, for the probe", Measured: strings.TrimSuffix(text, ", "), Value: total, Unit: "%"}.Print()
}
