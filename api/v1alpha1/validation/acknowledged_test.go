package validation_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestTheTimeoutOfSemiSyncThatARefusalNamesIsTheLeast: commits wait for as many replicas as have to acknowledge, so for the farthest of
// the nearest ones.
func TestTheTimeoutOfSemiSyncThatARefusalNamesIsTheLeast(t *testing.T) {
	named := regexp.MustCompile(`spec\.topology\.semiSync\.timeoutMilliseconds: .*more than (\d+)`)
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
		refusal := func(timeout int) string {
			return strings.Join(told(t, fmt.Sprintf(`{spec: {topology: {type: SemiSync, nodes: 4, semiSync: {ackReplicas: %d, timeoutMilliseconds: %d}, zones: [%s], links: [
				{from: asia, to: eu, roundTripMilliseconds: 200}, {from: us, to: asia, roundTripMilliseconds: 120}, {from: eu, to: us, roundTripMilliseconds: 80}]}}}`,
				c.ackReplicas, timeout, c.zones)), "\n")
		}
		for _, timeout := range []int{50, c.want} {
			found := named.FindStringSubmatch(refusal(timeout))
			if len(found) == 0 || found[1] != strconv.Itoa(c.want) {
				t.Errorf("%s: a timeout of %d ms: %q, want one that says more than %d", c.name, timeout, refusal(timeout), c.want)
			}
		}
		if got := refusal(c.want + 1); got != "" {
			t.Errorf("%s: what the refusal asks for is refused: %s", c.name, got)
		}
	}
}

func TestStagesOutOfOrderAreToldOfTheirOrderAlone(t *testing.T) {
	for _, stages := range []string{
		`{name: open, durationSeconds: 10, requestsPerSecond: 10}, {name: near, durationSeconds: 1, users: 1, discard: true, distance: None}`,
		`{name: crowd, durationSeconds: 10, users: 9, discard: true}, {name: near, durationSeconds: 1, users: 1, discard: true, distance: None}, {name: few, durationSeconds: 10, users: 1}`,
	} {
		got := told(t, `{spec: {topology: {type: Async, nodes: 3, zones: [{name: eu, nodes: [0, 1]}, {name: us, nodes: [2]}], links: [{from: eu, to: us, roundTripMilliseconds: 87}]}, load: {stages: [`+stages+`, {name: far, durationSeconds: 10, users: 1}]}}}`)
		if len(got) != 1 || !strings.Contains(got[0], "come first") {
			t.Errorf("%s: %q, want one of the order alone", stages, got)
		}
	}
}
