// Package kept_test judges the kept results documents of runs on a cluster again. Their figures and verdicts stay as they were, unless a change
// means to change them.
package kept_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/engine"
	"replab.dev/internal/engine/mariadb"
	"replab.dev/internal/engine/mysql"
	"replab.dev/internal/engine/postgres"
	"replab.dev/internal/plan"
	"replab.dev/internal/results"
	"replab.dev/internal/verdict"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/wire"
)

var update = flag.Bool("update", false, "write what the runs are judged now: look at the difference first")

func TestKeptRunsAreJudgedAsBefore(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json.gz")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d documents, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json.gz"), func(t *testing.T) {
			packed, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var kept results.Results
			if err := results.Unpack(packed, &kept); err != nil {
				t.Fatal(err)
			}
			again := kept.Status.DeepCopy()
			verdict.Judge(collected(t, kept), again)
			if *update {
				again.Comparison = kept.Status.Comparison
				kept.Status = *again
				write(t, file, kept)
			}
			// What a comparison says depends on its baseline, which is another document.
			if diff := cmp.Diff(kept.Status, *again, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(v1alpha1.ReplicationExperimentStatus{}, "Comparison")); diff != "" {
				t.Errorf("(-kept +now):\n%s", diff)
			}
		})
	}
}

func write(t *testing.T, file string, kept results.Results) {
	t.Helper()
	text, err := json.Marshal(kept)
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	w, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression) // a level that there is
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, packed.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// collected that a document was judged by.
func collected(t *testing.T, kept results.Results) evidence.Run {
	t.Helper()
	p := planned(t, kept)
	return evidence.Run{
		Experiment: kept.Experiment, Nodes: p.Nodes, Spec: kept.Spec, Faults: kept.Status.Faults, Rest: kept.Status.Rest, Notes: kept.Notes, Missing: kept.Missing,
		Distance: kept.Status.Distance.DeepCopy(), State: *kept.State, K6: kept.K6, Recorder: kept.Recorder, Audit: kept.Audit, Recount: kept.Recount,
		Proxy: kept.Proxy, Provenance: kept.Provenance,
		CommitWaits: p.CommitWaits, ReadsWait: p.ReadsWait, StandbysChosen: p.StandbysChosen, LossesWhileDegraded: p.LossesWhileDegraded, DegradedBy: p.DegradedBy,
		SendsTwice: p.SendsTwice,
	}
}

func planned(t *testing.T, kept results.Results) plan.Plan {
	t.Helper()
	x := &v1alpha1.ReplicationExperiment{Spec: kept.Spec}
	x.Name, x.Namespace = kept.Experiment, kept.Namespace
	images := v1alpha1.ImagesStatus{}
	if kept.Status.Images != nil {
		images = *kept.Status.Images
	}
	p, err := plan.Build(plan.Input{
		Experiment: x, Images: images, ClusterDomain: "cluster.local", OperatorNamespace: "replab-system",
		ForeignOperators: map[string]wire.ForeignOperator{string(v1alpha1.ProviderZalando): {}, string(v1alpha1.RunnerK6Operator): {}},
		Servers: engine.Lookup[engine.Server]{
			string(v1alpha1.EngineMySQL): mysql.Server{}, string(v1alpha1.EngineMariaDB): mariadb.Server{}, string(v1alpha1.EnginePostgreSQL): postgres.Server{},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}
