package suite_test

import (
	"context"
	"os"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/controllers"
	"replab.dev/internal/engine"
	"replab.dev/internal/engine/mysql"
	"replab.dev/internal/wire"
	"replab.dev/test/experiment"
	"replab.dev/test/kubetest"
)

func TestMain(m *testing.M) { os.Exit(kubetest.Main(m)) }

// patience is below what the operator waits for a trial whose changes it does not see.
const patience = 25 * time.Second

// TestTheOperatorCarriesSuitesOut, woken by what happens to their trials. Nobody runs pods: the test ends the trials.
func TestTheOperatorCarriesSuitesOut(t *testing.T) {
	api := kubetest.Client(t)
	cfg := wire.OperatorConfig{ClusterDomain: "cluster.local", OneAtATime: wire.OneAtATimeAlways, Images: wire.Images{
		Replab: "replab:1", K6: "k6:1", Servers: map[string]string{"MySQL": "mysql:1"}, Proxies: map[string]string{"HAProxy": "haproxy:1"},
	}}
	mgr, err := controllers.NewManager(kubetest.Config(t), cfg, controllers.Build{Version: "test", Servers: engine.Lookup[engine.Server]{string(v1alpha1.EngineMySQL): mysql.Server{}}})
	must(t, err)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		stop()
		must(t, <-ended)
	})
	s := experiment.ParseSuite(t, []byte(`
apiVersion: replab.dev/v1alpha1
kind: ReplicationSuite
metadata: {name: woken}
spec:
  template: {spec: {topology: {type: Single}, load: {stages: [{name: steady, durationSeconds: 30, users: 5}]}}}
  variants: [{name: a}, {name: b}]
  trials: 1
`))
	s.UID = ""
	must(t, api.Create(t.Context(), s))
	for until := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		end(t, api)
		must(t, api.Get(t.Context(), client.ObjectKeyFromObject(s), s))
		if meta.IsStatusConditionTrue(s.Status.Conditions, v1alpha1.ConditionComplete) {
			break
		}
		if time.Now().After(until) {
			t.Fatalf("the suite is not complete: %+v", s.Status)
		}
	}
	if s.Status.Verdict != v1alpha1.VerdictPassed || s.Status.Trials.Passed != 2 || len(s.Status.Variants[0].Figures) == 0 {
		t.Errorf("%s %v %+v", s.Status.Verdict, s.Status.Reasons, s.Status.Variants)
	}
}

// end the trials that have started.
func end(t *testing.T, api client.Client) {
	t.Helper()
	var all v1alpha1.ReplicationExperimentList
	must(t, api.List(t.Context(), &all))
	for _, x := range all.Items {
		if x.Status.StartTime == nil || meta.IsStatusConditionTrue(x.Status.Conditions, v1alpha1.ConditionComplete) {
			continue
		}
		now, rate := metav1.Now(), int64(5000)
		x.Status.CompletionTime, x.Status.Verdict, x.Status.Reasons = &now, v1alpha1.VerdictPassed, []string{"because"}
		x.Status.Load = &v1alpha1.LoadStatus{}
		x.Status.Load.RequestsPerSecondMilli = &rate
		meta.SetStatusCondition(&x.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionComplete, Status: metav1.ConditionTrue, Reason: "Passed"})
		if err := api.Status().Update(t.Context(), &x); err != nil && !apierrors.IsConflict(err) {
			t.Fatal(err)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
