package results

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/wire"
)

// collected of a run of so many seconds on so many nodes, whose figures do not repeat: the worst for compression.
func collected(seconds, nodes int) evidence.Run {
	random := rand.New(rand.NewPCG(1, 2))
	start := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	w := &wire.RecorderResults{}
	for i := range seconds {
		s := wire.Second{At: metav1.NewMicroTime(start.Add(time.Duration(i) * time.Second)), Requests: random.Int64N(1e5), Failures: random.Int64N(1e4), Writer: "experiment-db-0"}
		p50, p99 := random.Int64N(1e6), random.Int64N(1e8)
		s.P50Microseconds, s.P99Microseconds = &p50, &p99
		for range nodes {
			s.LagMicroseconds = append(s.LagMicroseconds, random.Int64N(1e8))
		}
		w.Timeline = append(w.Timeline, s)
	}
	return evidence.Run{Recorder: w}
}

func document(t *testing.T, e evidence.Run, status ...v1alpha1.ReplicationExperimentStatus) (*corev1.ConfigMap, Results) {
	t.Helper()
	x := &v1alpha1.ReplicationExperiment{ObjectMeta: metav1.ObjectMeta{Name: "x", Namespace: "n"}}
	for _, s := range status {
		x.Status = s
	}
	m, err := Document(x, e)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Read(m)
	if err != nil {
		t.Fatal(err)
	}
	return m, *r
}

func TestAnHoursRunFitsWithItsTimeline(t *testing.T) {
	m, r := document(t, collected(3600, 10))
	if n := len(m.BinaryData[KeyCompressed]); n == 0 || n > 900<<10 {
		t.Errorf("the document has %d bytes compressed, want at most 900 KiB", n)
	}
	if len(r.Recorder.Timeline) != 3600 || r.Omitted != "" {
		t.Errorf("the timeline has %d seconds; omitted: %q", len(r.Recorder.Timeline), r.Omitted)
	}
}

// sweep is the evidence of a run of 16 stages of so many seconds each, of ten nodes at a distance from each other and from the app, with as
// much of everything as there may be.
func sweep(seconds int) (v1alpha1.ReplicationExperimentStatus, evidence.Run) {
	const stages, nodes = 16, 10
	random := rand.New(rand.NewPCG(3, 4))
	any63 := func() *int64 { n := random.Int64N(1e9); return &n }
	e := collected(stages*seconds, nodes)
	w, start := e.Recorder, e.Recorder.Timeline[0].At
	latency := func() *wire.Latency {
		return &wire.Latency{MeanMicroseconds: *any63(), P50Microseconds: *any63(), P95Microseconds: *any63(), P99Microseconds: *any63(), MaxMicroseconds: *any63()}
	}
	status := v1alpha1.ReplicationExperimentStatus{Load: &v1alpha1.LoadStatus{}, Distance: &v1alpha1.DistanceStatus{}}
	for i := range stages {
		r := wire.StageResult{Name: fmt.Sprintf("a-stage-of-users-%02d", i), Requests: *any63(), Failures: *any63(), StartedAt: &start, Latency: latency(), FailedLatency: latency()}
		for _, o := range []string{"register", "profile", "search", "login", "other"} {
			r.Operations = append(r.Operations, wire.OperationResult{Name: o, Requests: *any63(), Failures: *any63(), Latency: latency(), FailedLatency: latency()})
		}
		w.Stages = append(w.Stages, r)
		status.Load.Stages = append(status.Load.Stages, v1alpha1.StageStatus{
			Name: r.Name, StageFigures: v1alpha1.StageFigures{Requests: *any63(), RequestsPerSecond: any63()},
			Distance: &v1alpha1.StageDistance{BaseMicroseconds: *any63(), BoundMilliRequestsPerSecond: *any63(), OfBoundPermille: *any63()},
		})
		for n := range nodes {
			w.Resources = append(w.Resources, wire.NodeResources{
				Node: fmt.Sprint("experiment-db-", n), Stage: r.Name, CPUMillicores: *any63(), ResidentPeakBytes: *any63(),
				ReadBytes: *any63(), WrittenBytes: *any63(), NetworkReceivedBytes: *any63(), NetworkSentBytes: *any63(),
			})
		}
	}
	for range wire.MaxStaleUsers {
		w.StaleUsers = append(w.StaleUsers, wire.StaleUser{WriteID: random.Uint64(), Reads: random.Int64N(100)})
	}
	w.Acknowledgements = wire.NewAcknowledgements(start.Time)
	for i := range 10 * stages * seconds {
		if random.IntN(2) == 0 {
			w.Acknowledgements.Mark(start.Add(time.Duration(i) * 100 * time.Millisecond))
		}
	}
	w.Availability = &wire.AvailabilityResult{Silences: &wire.Silences{From: start}}
	for range wire.MaxSilenceBuckets {
		w.Availability.Silences.Longest = append(w.Availability.Silences.Longest, wire.Silence{EndMicroseconds: *any63(), LengthMicroseconds: *any63()})
	}
	for i := range 155 { // ten nodes with each other, ten pods of the app and the proxy
		f := func() *v1alpha1.RoundTripFigures {
			return &v1alpha1.RoundTripFigures{Samples: 50, P50Microseconds: *any63(), P99Microseconds: *any63()}
		}
		status.Distance.RoundTrips = append(status.Distance.RoundTrips, v1alpha1.RoundTripStatus{
			From: fmt.Sprint("experiment-db-", i%nodes), To: fmt.Sprintf("experiment-social-%x", random.Uint64()), Before: f(), WithoutDistance: f(), After: f(),
		})
	}
	return status, e
}

// TestASweepFits: 16 stages of up to two minutes with their whole timeline; of an hour each, which is all that there may be, without.
func TestASweepFits(t *testing.T) {
	for seconds, whole := range map[int]bool{30: true, 120: true, 3600: false} {
		status, e := sweep(seconds)
		m, r := document(t, e, status)
		n := len(m.BinaryData[KeyCompressed])
		if n == 0 || n > 900<<10 || (r.Omitted == "") != whole || len(r.Recorder.Stages) != 16 || len(r.Status.Distance.RoundTrips) != 155 {
			t.Errorf("stages of %d s: %d bytes compressed, omitted %q, %d stages", seconds, n, r.Omitted, len(r.Recorder.Stages))
		}
		t.Logf("stages of %d s: %d KiB compressed", seconds, n>>10)
	}
}

func TestAShortRunIsPlainText(t *testing.T) {
	if m, r := document(t, collected(60, 3)); m.Data[Key] == "" || len(r.Recorder.Timeline) != 60 {
		t.Errorf("keys %v, timeline of %d seconds", m.Data, len(r.Recorder.Timeline))
	}
}

func TestATimelineThatDoesNotFitIsLeftOutAndSaidSo(t *testing.T) {
	e := collected(30000, 10)
	e.Recorder.StaleReads = 7
	_, r := document(t, e)
	if r.Omitted == "" || len(r.Recorder.Timeline) != 0 || r.Recorder.StaleReads != 7 {
		t.Errorf("omitted %q, timeline of %d seconds, stale reads %d", r.Omitted, len(r.Recorder.Timeline), r.Recorder.StaleReads)
	}
	if len(e.Recorder.Timeline) != 30000 {
		t.Error("the evidence itself was changed")
	}
}

func TestTheDocumentHasWhatTheManagerDecidedBy(t *testing.T) {
	e := collected(1, 1)
	if _, r := document(t, e); r.Manager != nil {
		t.Errorf("without a manager it has %v", r.Manager)
	}
	e.State.Manager = map[string]string{"ttl": "30"}
	if _, r := document(t, e); r.Manager["ttl"] != "30" {
		t.Errorf("it has %v", r.Manager)
	}
}

func TestUnpackSaysWhatIsTooLarge(t *testing.T) {
	packed, err := pack([]byte(`{"experiment":"` + strings.Repeat("a", unpackedMost) + `"}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := Unpack(packed, &Results{}); err == nil || !strings.Contains(err.Error(), "document too large: more than 32 MiB of memory") {
		t.Errorf("it was unpacked with %v", err)
	}
}

func TestUnpackRefusesWhatIsNotPacked(t *testing.T) {
	for _, text := range [][]byte{nil, []byte("{}"), {0x1f, 0x8b, 8}} {
		if err := Unpack(text, &Results{}); err == nil {
			t.Errorf("%q was unpacked", text)
		}
	}
}
