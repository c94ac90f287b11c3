package api_test

import (
	"fmt"
	"regexp"
	"strconv"
	"testing"
)

// TestTheTimeoutOfSemiSyncThatARefusalNamesIsTheLeast: commits wait for as many replicas as have to acknowledge, so for the farthest of
// the nearest ones.
func TestTheTimeoutOfSemiSyncThatARefusalNamesIsTheLeast(t *testing.T) {
	told := regexp.MustCompile(`spec\.topology\.semiSync\.timeoutMilliseconds: Invalid value: .*must be above (\d+)`)
	for _, c := range []struct {
		name        string
		ackReplicas int
		zones       string
		want        int
	}{
		{"the nearest of two", 1, `{name: eu, nodes: [0]}, {name: us, nodes: [1]}, {name: asia, nodes: [2, 3]}`, 80},
		{"the second of three", 2, `{name: eu, nodes: [0]}, {name: us, nodes: [1]}, {name: asia, nodes: [2, 3]}`, 200},
		{"two at the same distance", 2, `{name: eu, nodes: [0]}, {name: us, nodes: [1, 2]}, {name: asia, nodes: [3]}`, 80},
		{"all", 3, `{name: eu, nodes: [0]}, {name: us, nodes: [1, 2]}, {name: asia, nodes: [3]}`, 200},
		{"the second, one of them beside the primary", 2, `{name: eu, nodes: [0, 3]}, {name: us, nodes: [1]}, {name: asia, nodes: [2]}`, 80},
	} {
		t.Run(c.name, func(t *testing.T) {
			refusal := func(timeout int) error {
				return dryRun(t, minimalWith(t, fmt.Sprintf(`{spec: {topology: {type: SemiSync, replicas: 3, semiSync: {ackReplicas: %d, timeoutMilliseconds: %d}, zones: [%s], links: [
					{from: asia, to: eu, roundTripMilliseconds: 200}, {from: us, to: asia, roundTripMilliseconds: 120}, {from: eu, to: us, roundTripMilliseconds: 80}]}}}`,
					c.ackReplicas, timeout, c.zones)))
			}
			for _, timeout := range []int{50, c.want} {
				found := told.FindStringSubmatch(fmt.Sprint(refusal(timeout)))
				if len(found) == 0 || found[1] != strconv.Itoa(c.want) {
					t.Errorf("a timeout of %d ms: refusal = %v, want one that says more than %d", timeout, refusal(timeout), c.want)
				}
			}
			if err := refusal(c.want + 1); err != nil {
				t.Errorf("what the refusal asks for is refused: %v", err)
			}
		})
	}
}
