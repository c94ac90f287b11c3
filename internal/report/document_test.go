package report

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/verdict"
	"replab.dev/internal/wire"
)

// evidence of a run of so many seconds on so many nodes, whose figures do not repeat: the worst for compression.
func evidence(seconds, nodes int) verdict.Evidence {
	random := rand.New(rand.NewPCG(1, 2))
	start := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	w := &wire.WitnessResults{}
	for i := range seconds {
		s := wire.Second{At: metav1.NewMicroTime(start.Add(time.Duration(i) * time.Second)), Requests: random.Int64N(1e5), Failures: random.Int64N(1e4), Writer: "experiment-db-0"}
		p50, p99 := random.Int64N(1e6), random.Int64N(1e8)
		s.P50Microseconds, s.P99Microseconds = &p50, &p99
		for range nodes {
			s.LagMicroseconds = append(s.LagMicroseconds, random.Int64N(1e8))
		}
		w.Timeline = append(w.Timeline, s)
	}
	return verdict.Evidence{Witness: w}
}

func document(t *testing.T, e verdict.Evidence) (*corev1.ConfigMap, Results) {
	t.Helper()
	x := &v1alpha1.ReplicationExperiment{ObjectMeta: metav1.ObjectMeta{Name: "x", Namespace: "n"}}
	m, err := Document(x, e)
	if err != nil {
		t.Fatal(err)
	}
	var r Results
	if text, ok := m.Data[Key]; ok {
		err = json.Unmarshal([]byte(text), &r)
	} else {
		err = Unpack(m.BinaryData[KeyCompressed], &r)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m, r
}

func TestAnHoursRunFitsWithItsTimeline(t *testing.T) {
	m, r := document(t, evidence(3600, 10))
	if n := len(m.BinaryData[KeyCompressed]); n == 0 || n > 900<<10 {
		t.Errorf("the document has %d bytes compressed, want at most 900 KiB", n)
	}
	if len(r.Witness.Timeline) != 3600 || r.Omitted != "" {
		t.Errorf("the timeline has %d seconds; omitted: %q", len(r.Witness.Timeline), r.Omitted)
	}
}

func TestAShortRunIsPlainText(t *testing.T) {
	if m, r := document(t, evidence(60, 3)); m.Data[Key] == "" || len(r.Witness.Timeline) != 60 {
		t.Errorf("keys %v, timeline of %d seconds", m.Data, len(r.Witness.Timeline))
	}
}

func TestATimelineThatDoesNotFitIsLeftOutAndSaidSo(t *testing.T) {
	e := evidence(30000, 10)
	e.Witness.StaleReads = 7
	_, r := document(t, e)
	if r.Omitted == "" || len(r.Witness.Timeline) != 0 || r.Witness.StaleReads != 7 {
		t.Errorf("omitted %q, timeline of %d seconds, stale reads %d", r.Omitted, len(r.Witness.Timeline), r.Witness.StaleReads)
	}
	if len(e.Witness.Timeline) != 30000 {
		t.Error("the evidence itself was changed")
	}
}

func TestUnpackRefusesWhatIsNotPacked(t *testing.T) {
	for _, text := range [][]byte{nil, []byte("{}"), {0x1f, 0x8b, 8}} {
		if err := Unpack(text, &Results{}); err == nil {
			t.Errorf("%q was unpacked", text)
		}
	}
}
