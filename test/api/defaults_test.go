package api_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMinimalSpecGetsAllDefaults(t *testing.T) {
	object := minimalWith(t, `{}`)
	if err := dryRun(t, object); err != nil {
		t.Fatal(err)
	}
	want := fromYAML(t, `
topology:
  type: Single
  nodes: 1
  failover: Automatic
  director: {periodMilliseconds: 250, failureThreshold: 3, leaseMilliseconds: 5000}
  durability: Full
  storage: {medium: VolumeClaim, size: 2Gi}
routing: {proxy: HAProxy, reads: Replicas, writes: Primary, check: {intervalMilliseconds: 250, fall: 2, rise: 1}}
app: {replicas: 1, passwordHash: SHA256}
dataset: {users: 10000, seed: 1, locale: en}
load:
  runner: Job
  parallelism: 1
  mix: {register: 1, profile: 1, search: 1, login: 0, update: 0}
  stages: [{name: steady, durationSeconds: 30, users: 10}]
probes:
  lag: {intervalMilliseconds: 200, payloadBytes: 100}
  availability: {intervalMilliseconds: 20}
keep: OnFailure
`)
	if diff := cmp.Diff(normal(t, want), normal(t, object.Object["spec"])); diff != "" {
		t.Error("spec with defaults (-want +got):\n" + diff)
	}
}
