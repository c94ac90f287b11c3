package experiment

import (
	"bytes"
	"compress/gzip"
	"context"
	cryptorand "crypto/rand"
	"encoding/base64"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/topology"
	"replab.dev/internal/wire"
	"replab.dev/test/experiment"
)

// TestEvidenceIsNotTheStatus, which the verdict writes while it reads the evidence.
func TestEvidenceIsNotTheStatus(t *testing.T) {
	run := (&scene{}).run(t)
	e, err := collect(t.Context(), run)
	if err != nil || e.Distance != nil {
		t.Fatalf("without links: %+v, %v", e.Distance, err)
	}
	run.Status.Distance = &v1alpha1.DistanceStatus{Nodes: []v1alpha1.LinkedNodeStatus{{Name: "x-db-0"}}}
	if e, err = collect(t.Context(), run); err != nil || e.Distance == nil || len(e.Distance.Nodes) != 1 {
		t.Fatalf("with links: %+v, %v", e.Distance, err)
	}
	run.Status.Distance.Nodes[0].Problem = v1alpha1.LinkNotInStage
	if got := e.Distance.Nodes[0].Problem; got != "" {
		t.Errorf("what was written into the status is in the evidence: %s", got)
	}
}

// TestEvidenceTellsMembersOfAGroup: the plan's CountGroup reaches the evidence.
func TestEvidenceTellsMembersOfAGroup(t *testing.T) {
	for name, grouped := range map[string]bool{"galera-mysql": true, "async": false} {
		run := (&scene{}).run(t)
		run.ReplicationExperiment = experiment.Load(t, name)
		run.Input.Experiment = run.ReplicationExperiment
		planned(t, run)
		if e, err := collect(t.Context(), run); err != nil || e.Grouped != grouped {
			t.Errorf("%s: grouped is %v, want %v; %v", name, e.Grouped, grouped, err)
		}
	}
}

// TestTheVerdictWaitsForNodesThatDoNotAnswer, for a while: what each knows of itself nobody else tells.
func TestTheVerdictWaitsForNodesThatDoNotAnswer(t *testing.T) {
	silent := topology.State{Known: true, Silent: []string{"semisync-db-1"}}
	for name, c := range map[string]struct {
		state  topology.State
		waited time.Duration
		done   bool
	}{
		"all have answered": {topology.State{Known: true}, 0, true},
		"one has not":       {silent, 0, false},
		"one never does":    {silent, time.Minute, true},
		"none has":          {topology.State{Why: "gone"}, 0, false},
		"none ever does":    {topology.State{Why: "gone"}, time.Minute, true},
	} {
		t.Run(name, func(t *testing.T) {
			run := (&scene{}).run(t)
			run.Snapshot.state = part[topology.State]{read: true, value: c.state}
			run.waiting = v1alpha1.ProgressStatus{Awaited: v1alpha1.AwaitedTopology, AwaitedTime: ptr.To(metav1.NewMicroTime(run.Now().Add(-c.waited)))}
			out, err := judge(t.Context(), run)
			if err != nil || out.Done != c.done || (run.Status.Results != "") != c.done {
				t.Errorf("%+v, %v; results %q", out, err, run.Status.Results)
			}
		})
	}
}

// hostile is a world whose instruments' ConfigMaps somebody else has written.
type hostile struct {
	*world
	maps map[string]corev1.ConfigMap
}

func (h *hostile) Get(ctx context.Context, o client.Object) (bool, error) {
	if m, ok := h.maps[o.GetName()]; ok {
		m.DeepCopyInto(o.(*corev1.ConfigMap))
		return true, nil
	}
	return h.world.Get(ctx, o)
}

func TestHostileDocumentsAreInconclusive(t *testing.T) {
	// base64 of random bytes, of which nothing is left out when it is compressed
	noise := make([]byte, 600<<10)
	_, _ = cryptorand.Read(noise)
	for name, c := range map[string]struct {
		recorder, audit string
		says            string
	}{
		"zeros for the recorder's":   {recorder: strings.Repeat("\x00", 64<<20), says: "more than 32 MiB of memory"},
		"many nodes for the audit's": {audit: `{"nodes":[{}` + strings.Repeat(",{}", 300_000) + `]}`, says: "more than 32 MiB of memory"},
		"a long reason":              {audit: `{"failed":"` + strings.Repeat("<", 900_000) + `"}`, says: "Judged: the status would take"},
		"noise":                      {audit: `{"nodes":[{"checksum":"` + base64.StdEncoding.EncodeToString(noise) + `"}]}`, recorder: `{"k6Version":"` + base64.StdEncoding.EncodeToString(noise) + `"}`, says: "does not fit into a ConfigMap"},
	} {
		t.Run(name, func(t *testing.T) {
			x := experiment.Parse(t, []byte(semisync))
			w := newWorld(t, x)
			maps := map[string]corev1.ConfigMap{}
			if c.recorder != "" {
				maps["semisync-recorder-state"] = corev1.ConfigMap{BinaryData: map[string][]byte{wire.RecorderResultsKey: gzipped(t, c.recorder)}}
			}
			if c.audit != "" {
				maps["semisync-audit-state"] = corev1.ConfigMap{Data: map[string]string{wire.AuditResultKey: c.audit}}
			}
			for name, m := range maps {
				m.Name = name
				maps[name] = m
			}
			found := play(t, w, &hostile{w, maps}, x)
			if got := outcomeOf(found, w); got.Verdict != v1alpha1.VerdictInconclusive || !strings.Contains(got.Reasons, c.says) {
				t.Errorf("%s: %.500s", got.Verdict, got.Reasons)
			}
		})
	}
}

func gzipped(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
