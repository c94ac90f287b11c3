package recorder

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/engine"
	"replab.dev/internal/engine/mysql"
	"replab.dev/internal/load"
	"replab.dev/internal/load/k6"
	"replab.dev/internal/plan"
	documents "replab.dev/internal/results"
	"replab.dev/internal/verdict"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/wire"
	"replab.dev/test/experiment"
)

// TestASweepOf16Stages goes all the way: what the plan tells k6 and the recorder, a real k6 through the recorder, what the verdict makes of
// both, and the results that stay. Each stage is told of by all of them, as the others tell it.
func TestASweepOf16Stages(t *testing.T) {
	t.Parallel() // most of it is waiting
	x := experiment.Load(t, "single")
	x.Spec.Load.Mix = v1alpha1.MixSpec{Register: 1, Profile: 1}
	x.Spec.Load.Stages = nil
	for i := range 16 {
		s := v1alpha1.Stage{Name: fmt.Sprintf("stage-%02d", i), DurationSeconds: 1, Users: new(int64(1 + i%4)), Discard: i == 0}
		if i == 15 {
			s.Users, s.RequestsPerSecond, s.MaxUsers = nil, 50, 4
		}
		x.Spec.Load.Stages = append(x.Spec.Load.Stages, s)
	}
	e := evidence.Run{Spec: x.Spec, Recorder: &wire.RecorderResults{}, K6: &wire.K6Summary{}}
	*e.Recorder, *e.K6 = sweep(t, x)
	verdict.Judge(e, &x.Status)
	document, err := documents.Document(x, e)
	if err != nil {
		t.Fatal(err)
	}
	var results documents.Results
	if err := json.Unmarshal([]byte(document.Data[documents.Key]), &results); err != nil {
		t.Fatal(err)
	}
	told, counted, kept := results.Status.Load.Stages, e.K6.Stages, results.Recorder.Stages
	if len(told) != 16 || len(counted) != 16 || len(kept) != 16 || len(results.K6.Stages) != 16 {
		t.Fatalf("of 16 stages the status has %d, k6 %d, the results %d of the recorder and %d of k6", len(told), len(counted), len(kept), len(results.K6.Stages))
	}
	thin := 0
	for i, asked := range x.Spec.Load.Stages {
		status, own, seen := told[i], counted[i], kept[i]
		if status.Name != asked.Name || own.Name != asked.Name || seen.Name != asked.Name || seen.Discarded != asked.Discard {
			t.Fatalf("stage %s is %s to the status, %s to k6, %s to the recorder", asked.Name, status.Name, own.Name, seen.Name)
		}
		// Of each user one request may be cut off by the stage's end, of which k6 tells nothing.
		if cut := seen.Requests - own.Requests; cut < 0 || cut > asked.ClosedUsers()+asked.MaxUsers || status.Requests != seen.Requests {
			t.Errorf("stage %s: %d requests by the status, %d by the recorder, %d by k6", asked.Name, status.Requests, seen.Requests, own.Requests)
		}
		if own.Requests < 10 { // the machine was busy with other things
			thin++
			continue
		}
		if status.Latency == nil || status.RequestsPerSecond == nil || (status.ClosedLoopPermille != nil) != (asked.ClosedUsers() > 0) {
			t.Errorf("stage %s has no figures: %+v", asked.Name, status)
		}
		if i > 0 && kept[i-1].StartedAt != nil && !kept[i-1].StartedAt.Before(seen.StartedAt) {
			t.Errorf("stage %s began at %s, the one before at %s", asked.Name, seen.StartedAt, kept[i-1].StartedAt)
		}
	}
	if thin > 8 {
		t.Errorf("%d stages had hardly any request", thin)
	}
}

// sweep has k6 ask an app through a recorder, both as the plan says.
func sweep(t *testing.T, x *v1alpha1.ReplicationExperiment) (wire.RecorderResults, wire.K6Summary) {
	t.Helper()
	p, err := plan.Build(plan.Input{
		Experiment: x, ClusterDomain: "cluster.local", Servers: engine.Lookup[engine.Server]{"MySQL": mysql.Server{}},
		Images: v1alpha1.ImagesStatus{Replab: "replab", K6: "k6", Server: "mysql", Proxy: "haproxy"},
	})
	if err != nil {
		t.Fatal(err)
	}
	var users atomic.Int64
	b := newBench(t, func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(2 * time.Millisecond) // what a database takes
		id := users.Add(1)
		w.Header().Set(wire.HeaderUserID, fmt.Sprint(id))
		fmt.Fprintf(w, `{"user_id": "%d"}`, id)
	})
	var config wire.RecorderConfig
	script := filepath.Join(t.TempDir(), load.ScriptFile)
	for _, o := range p.Deploy {
		if m, ok := o.(*corev1.ConfigMap); ok && m.Data["recorder.json"] != "" {
			if err := json.Unmarshal([]byte(m.Data["recorder.json"]), &config); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.WriteFile(script, []byte(load.Files(nil)[load.ScriptFile]), 0o600); err != nil {
		t.Fatal(err)
	}
	b.cfg.Stages = config.Stages
	b.run()
	cmd := exec.CommandContext(t.Context(), findK6(t), "run", "--quiet", "--no-usage-report", "--address=", script)
	cmd.Env = append(os.Environ(), wire.URLEnv+"=http://"+b.cfg.Listen, wire.SummaryEnv+"="+script+".summary")
	for _, v := range p.Load[0].(*batchv1.Job).Spec.Template.Spec.Containers[0].Env {
		if v.Name == wire.LoadEnv {
			cmd.Env = append(cmd.Env, v.Name+"="+v.Value)
		}
	}
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("k6: %v\n%s", err, output)
	}
	text, err := os.ReadFile(script + ".summary")
	if err != nil {
		t.Fatal(err)
	}
	summary, err := k6.ParseSummary(text)
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	status, results := b.finish()
	if status != http.StatusOK {
		t.Fatalf("finish: %d", status)
	}
	return results, summary
}
