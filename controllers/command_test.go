package controllers

import (
	"math"
	"runtime/debug"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"

	"replab.dev/internal/wire"
)

func TestAFailingLookIsRepeatedSoon(t *testing.T) {
	limiter := options(wire.OperatorConfig{}).RateLimiter
	item := ctrl.Request{NamespacedName: types.NamespacedName{Namespace: "default", Name: "x"}}
	var last time.Duration
	for range 50 {
		if last = limiter.When(item); last > 5*time.Second {
			t.Fatalf("the next look is %s away", last)
		}
	}
	if first := limiter.When(ctrl.Request{}); first >= last || first > time.Second {
		t.Errorf("the first repetition comes after %s, the fiftieth after %s", first, last)
	}
}

func TestTwoInstallationsInOneNamespaceAreNotTheSame(t *testing.T) {
	if name := electionName(""); name != "replab-operator-leader" { // as config/rbac and the chart make it
		t.Errorf("the Lease is called %s", name)
	}
	if a, b := identity("team-a", ""), identity("team-a", "second-operator"); a == b || a != identity("team-a", defaultName) {
		t.Errorf("they are %q and %q", a, b)
	}
}

func TestWorkers(t *testing.T) {
	for configured, want := range map[int]int{0: wire.DefaultWorkers, 1: 1, 9: 9} {
		if got := options(wire.OperatorConfig{Workers: configured}).MaxConcurrentReconciles; got != want {
			t.Errorf("workers %d: %d at once, want %d", configured, got, want)
		}
	}
}

func TestTheHeapIsNineTenthsOfTheMemory(t *testing.T) {
	was := debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetMemoryLimit(was) })
	for limit, want := range map[int64]int64{128 << 20: (128 << 20) / 10 * 9, math.MaxInt64: math.MaxInt64} {
		debug.SetMemoryLimit(limit)
		limitMemory()
		if got := debug.SetMemoryLimit(-1); got != want {
			t.Errorf("of %d bytes %d are the heap's, want %d", limit, got, want)
		}
	}
}
