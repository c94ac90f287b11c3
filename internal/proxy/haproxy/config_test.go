package haproxy

import (
	"strings"
	"testing"
	"time"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/proxy"
)

// TestTimeoutsWaitForTheRoundTrip: nodes at a distance would else never be found, and the results tell of it.
func TestTimeoutsWaitForTheRoundTrip(t *testing.T) {
	for trip, want := range map[time.Duration][2]string{0: {"2s", "1s"}, 87 * time.Millisecond: {"2087ms", "1087ms"}, 10 * time.Second: {"12s", "11s"}} {
		p := proxy.Params{Spec: v1alpha1.RoutingSpec{Check: v1alpha1.RoutingCheck{IntervalMilliseconds: 250, Fall: 2, Rise: 1}}, RoundTrip: trip}
		text, settings := config(p), settings(p)
		if !strings.Contains(text, "\n  timeout connect "+want[0]+"\n") || !strings.Contains(text, "\n  timeout check "+want[1]+"\n") ||
			settings["timeout connect"] != want[0] || settings["timeout check"] != want[1] {
			t.Errorf("%s away: settings %v, and\n%s", trip, settings, text)
		}
	}
}
