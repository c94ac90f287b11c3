package plugin

import (
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/plugin/follow/followtest"
	"replab.dev/internal/wire"
	"replab.dev/test/kubetest"
)

// file with an experiment, or with more.
func file(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "experiment.yaml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// operate stands in for the operator and the garbage collector: it takes an experiment without a status to a verdict once something was seen.
func operate(t *testing.T, namespace, name string, verdict v1alpha1.Verdict, seen func() bool) {
	server := kubetest.Client(t)
	go func() {
		for t.Context().Err() == nil {
			x := &v1alpha1.ReplicationExperiment{}
			if server.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, x) == nil {
				switch {
				case x.DeletionTimestamp != nil:
					_ = server.Patch(t.Context(), x, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))) // tried again
				case len(x.Status.Conditions) == 0:
					x.Status.Phase, x.Status.Conditions = "UnderLoad", reached(v1alpha1.ConditionAccepted, v1alpha1.ConditionSeeded, v1alpha1.ConditionLoadStarted)
					x.Status.Faults = []v1alpha1.FaultStatus{{
						Name: "crash", Fault: "crash", Pod: name + "-db-0", PodUID: "1", PlannedTime: metav1.NowMicro(), State: v1alpha1.FaultInjected, Confirmed: metav1.ConditionUnknown,
					}}
					_ = server.Status().Update(t.Context(), x)
				case x.Status.Verdict == "" && seen():
					end := ended(verdict)
					x.Status.Phase, x.Status.Verdict, x.Status.Conditions = end.Phase, end.Verdict, end.Conditions
					_ = server.Status().Update(t.Context(), x)
				}
			}
			time.Sleep(quick / 5) // looks again, as an operator does
		}
	}()
}

// atOnce is seen by nobody.
func atOnce() bool { return true }

func TestEachVerdictHasItsExitCode(t *testing.T) {
	t.Parallel()
	for verdict, code := range map[v1alpha1.Verdict]int{
		v1alpha1.VerdictPassed: 0, v1alpha1.VerdictFailed: 1, v1alpha1.VerdictInconclusive: 2, v1alpha1.VerdictInvalid: 2,
	} {
		t.Run(string(verdict), func(t *testing.T) {
			here := namespace(t)
			t.Parallel()
			run := begin(t, here, "run", file(t, semisync))
			operate(t, here, "semisync", verdict, run.shows("fault crash: injected"))
			got := run.ends()
			if got.code != code || got.err != "" {
				t.Errorf("exit code %d, want %d: %s", got.code, code, got.err)
			}
			for _, want := range []string{" s  UnderLoad\n", "fault crash: injected into semisync-db-0", "\nVerdict    " + string(verdict)} {
				if !strings.Contains(got.out, want) {
					t.Errorf("no %q in:\n%s", want, got.out)
				}
			}
			if again := command(t, here, "watch", "semisync"); again.code != code || !strings.Contains(again.out, "Verdict    "+string(verdict)) {
				t.Errorf("watched afterwards: %+v", again)
			}
			x := found(t, &v1alpha1.ReplicationExperiment{ObjectMeta: metav1.ObjectMeta{Namespace: here, Name: "semisync"}})
			if m := x.ManagedFields; len(m) == 0 || m[0].Manager != fieldManager || m[0].Operation != metav1.ManagedFieldsOperationApply {
				t.Errorf("managed fields %+v", m)
			}
		})
	}
}

func TestWhatCannotRun(t *testing.T) {
	t.Parallel()
	here := namespace(t)
	stored(t, here, "semisync", ended(v1alpha1.VerdictPassed))
	other := strings.Replace(semisync, "name: semisync", "name: other", 1)
	unknown := func(of string) string { return strings.Replace(of, "replicas:", "replica:", 1) }
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"a field that nobody knows":                  {[]string{"run", file(t, unknown(other))}, ".spec.topology.replica"},
		"a value that a rule refuses":                {[]string{"run", file(t, strings.Replace(other, "atSeconds: 20", "atSeconds: 70", 1))}, "atSeconds"},
		"one that has run":                           {[]string{"run", file(t, semisync)}, "has run already, and is Passed"},
		"one that has run, and the new one is wrong": {[]string{"run", "--replace", file(t, unknown(semisync))}, "replica"},
		"no experiment":                              {[]string{"run", file(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\n")}, "no ReplicationExperiment"},
		"no file":                                    {[]string{"run", "/nowhere.yaml"}, "/nowhere.yaml"},
		"the second of two is wrong":                 {[]string{"run", file(t, strings.Replace(semisync, "name: semisync", "name: first", 1)+"\n---\n"+unknown(other))}, "replica"},
		"two of one name":                            {[]string{"run", file(t, other+"\n---\n"+other)}, "experiment other is in the files twice"},
		"one that would be its own baseline":         {[]string{"run", "--replace", file(t, strings.Replace(semisync, "spec:", "spec:\n  baseline: {name: semisync}", 1))}, "spec.baseline.name is the experiment itself"},
		"one that is not there":                      {[]string{"watch", "nobody"}, "no experiment nobody"},
	} {
		t.Run(name, func(t *testing.T) {
			got := command(t, here, c.args...)
			if got.code != ExitNotRun || !strings.Contains(got.err, c.want) {
				t.Errorf("%+v, want exit code 3 and %q", got, c.want)
			}
		})
	}
	var all v1alpha1.ReplicationExperimentList
	if err := kubetest.Client(t).List(t.Context(), &all, client.InNamespace(here)); err != nil || len(all.Items) != 1 || all.Items[0].Status.Verdict != v1alpha1.VerdictPassed {
		t.Errorf("%d experiments are left, %v: none was to be made, nor removed", len(all.Items), err)
	}
}

func TestReplaceAndSeveralInTheirOrder(t *testing.T) {
	t.Parallel()
	here := namespace(t)
	older := stored(t, here, "semisync", ended(v1alpha1.VerdictPassed))
	operate(t, here, "semisync", v1alpha1.VerdictFailed, atOnce)
	operate(t, here, "second", v1alpha1.VerdictPassed, atOnce)
	got := command(t, here, "run", "--replace", file(t, semisync+"\n---\n"+strings.Replace(semisync, "name: semisync", "name: second", 1)))
	first, second := strings.Index(got.out, "Verdict    Failed"), strings.Index(got.out, "Verdict    Passed")
	if got.code != ExitFailed || first < 0 || second < first || !strings.Contains(got.out, "Removing the older experiment semisync") {
		t.Errorf("%+v", got)
	}
	now := found(t, &v1alpha1.ReplicationExperiment{ObjectMeta: metav1.ObjectMeta{Namespace: here, Name: "semisync"}})
	if now.UID == older.UID {
		t.Error("it is still the older one")
	}
}

func TestWhoLeavesLeavesTheRunGoing(t *testing.T) {
	t.Parallel()
	here := namespace(t)
	stored(t, here, "semisync", v1alpha1.ReplicationExperimentStatus{Phase: "Seeding"})
	run := begin(t, here, "run", file(t, semisync))
	run.awaits(t, "Seeding")
	run.leave()
	if got := run.ends(); got.code != ExitInterrupted || !strings.Contains(got.err, "kubectl replab watch semisync -n "+here) || !strings.Contains(got.out, "is under way already") {
		t.Errorf("%+v", got)
	}
	if x := found(t, &v1alpha1.ReplicationExperiment{ObjectMeta: metav1.ObjectMeta{Namespace: here, Name: "semisync"}}); x.Spec.Abort || x.DeletionTimestamp != nil {
		t.Error("the run was ended")
	}
}

func TestOneThatIsDeletedIsNotRun(t *testing.T) {
	t.Parallel()
	here := namespace(t)
	x := stored(t, here, "semisync", v1alpha1.ReplicationExperimentStatus{Phase: "Seeding"})
	run := begin(t, here, "watch", "semisync")
	run.awaits(t, "Seeding")
	if err := kubetest.Client(t).Delete(t.Context(), x); err != nil {
		t.Fatal(err)
	}
	if got := run.ends(); got.code != ExitNotRun || !strings.Contains(got.err, "was deleted before its verdict") {
		t.Errorf("%+v", got)
	}
}

// TestLiveFiguresComeThroughTheAPIServer, as from a witness that is a process of the test.
func TestLiveFiguresComeThroughTheAPIServer(t *testing.T) {
	t.Parallel()
	here := namespace(t)
	server := kubetest.Client(t)
	live := *followtest.Run()[6].Live
	address := witness(t, live)
	meta := metav1.ObjectMeta{Namespace: here, Name: "semisync-witness"}
	service := &corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "control", Port: wire.PortWitnessControl}}}}
	pod := &corev1.Pod{ObjectMeta: meta, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "witness", Image: "none"}}}}
	endpoints := &corev1.Endpoints{ObjectMeta: meta, Subsets: []corev1.EndpointSubset{{ //nolint:staticcheck // what the API server asks
		Addresses: []corev1.EndpointAddress{{IP: address.IP.String(), TargetRef: &corev1.ObjectReference{Kind: "Pod", Namespace: here, Name: meta.Name}}},
		Ports:     []corev1.EndpointPort{{Name: "control", Port: int32(address.Port)}},
	}}}
	for _, o := range []client.Object{service, pod, endpoints} {
		if err := server.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	pod.Status.PodIPs = []corev1.PodIP{{IP: address.IP.String()}}
	pod.Status.PodIP = address.IP.String()
	if err := server.Status().Update(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	run := begin(t, here, "run", file(t, semisync))
	operate(t, here, "semisync", v1alpha1.VerdictPassed, run.shows("load: "))
	got := run.ends()
	for _, want := range []string{"stage open (2 of 2)", "load: 80 succeeded/s, 0 failed, p99 ≥ 701 ms, lag 422 µs, 27 s of open left"} {
		if !strings.Contains(got.out, want) {
			t.Errorf("no %q in:\n%s%s", want, got.out, got.err)
		}
	}
}

// witness answers as one does, at an address that the API server may ask.
func witness(t *testing.T, live wire.WitnessLive) *net.TCPAddr {
	t.Helper()
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addresses {
		n, ok := a.(*net.IPNet)
		if !ok || n.IP.To4() == nil || !n.IP.IsGlobalUnicast() {
			continue
		}
		l, err := net.Listen("tcp", net.JoinHostPort(n.IP.String(), "0"))
		if err != nil {
			continue
		}
		s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == wire.WitnessPathLive && r.URL.Query().Get(wire.WitnessLiveSeconds) == "60" {
				_ = json.NewEncoder(w).Encode(live)
				return
			}
			http.NotFound(w, r)
		})}
		go func() { _ = s.Serve(l) }()
		t.Cleanup(func() { s.Close() })
		return l.Addr().(*net.TCPAddr)
	}
	if os.Getenv("REPLAB_REQUIRE_ENVTEST") != "" {
		t.Fatal("this machine has no address but those of itself, which an API server does not ask")
	}
	t.Skip("this machine has no address but those of itself, which an API server does not ask")
	return nil
}

func TestAWitnessThatCannotBeAsked(t *testing.T) {
	t.Parallel()
	here := namespace(t)
	run := begin(t, here, "run", file(t, semisync))
	operate(t, here, "semisync", v1alpha1.VerdictPassed, run.shows("no live figures"))
	got := run.ends()
	if got.code != ExitOK || strings.Count(got.out, "no live figures: the API server does not get an answer of the witness") != 1 {
		t.Errorf("%+v", got)
	}
}
