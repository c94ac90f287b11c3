package usage

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/prometheus/procfs"

	"replab.dev/internal/wire"
)

func TestOwnUsageGrowsWithWork(t *testing.T) {
	before := answered(t)
	if before.ServerPID != int64(os.Getpid()) || before.ResidentBytes < 1<<20 || before.Threads < 1 {
		t.Errorf("resources: %+v", before)
	}
	for deadline := time.Now().Add(10 * time.Second); answered(t).CPUMicroseconds < before.CPUMicroseconds+50_000; {
		if time.Now().After(deadline) {
			t.Fatal("10 s of work are not 50 ms of processor time")
		}
		for began := time.Now(); time.Since(began) < 10*time.Millisecond; {
		}
	}
}

func TestNetworkLeavesTheLoopbackOut(t *testing.T) {
	received, sent := sum(procfs.NetDev{
		"lo":   {RxBytes: 1 << 40, TxBytes: 1 << 40},
		"eth0": {RxBytes: 10, TxBytes: 20},
		"eth1": {RxBytes: 1, TxBytes: 2},
	})
	if received != 11 || sent != 22 {
		t.Errorf("received %d, sent %d; want 11, 22", received, sent)
	}
}

func answered(t *testing.T) (r wire.Resources) {
	t.Helper()
	w := httptest.NewRecorder()
	Handle(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, wire.AgentPathResources, http.NoBody))
	if w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if err := json.NewDecoder(w.Body).Decode(&r); err != nil {
		t.Fatal(err)
	}
	return r
}
