package plugin

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/plugin/follow/followtest"
	"replab.dev/internal/runs"
	"replab.dev/internal/wire"
	"replab.dev/test/kubetest"
)

// asked is a cluster whose API server answers in a way of its own.
func asked(t *testing.T, answer http.HandlerFunc) Cluster {
	t.Helper()
	api := httptest.NewServer(answer)
	t.Cleanup(api.Close)
	reached, err := runs.New(&rest.Config{Host: api.URL}, quick)
	if err != nil {
		t.Fatal(err)
	}
	return Cluster{Cluster: reached}
}

// refused is what an API server says that does not answer what was asked for.
func refused(code int32, reason metav1.StatusReason, message string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(int(code))
		_ = json.NewEncoder(w).Encode(metav1.Status{ // who reads it notices
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Code: code, Reason: reason, Message: message,
		})
	}
}

// TestWhyTheRecorderTellsNothing: each reason has words that say what to do about it.
func TestWhyTheRecorderTellsNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"no right":          {refused(403, metav1.StatusReasonForbidden, "no"), "you may not get services/proxy in namespace here"},
		"an older recorder": {http.NotFound, "the recorder is older than the plugin"},
		"no Service":        {refused(404, metav1.StatusReasonNotFound, "services not found"), "the recorder does not answer the API server: services not found"},
		"no endpoint":       {refused(503, metav1.StatusReasonServiceUnavailable, "no endpoints"), "the recorder does not answer the API server: no endpoints"},
		"no answer":         {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "did not answer in time: a network policy may block"},
		"too much": {func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, "[{}", strings.Repeat(",{}", 100_000), "]")
		}, "document too large"},
		"another answer": {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }, "read the recorder's answer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, stop := context.WithTimeout(t.Context(), 10*quick)
			defer stop()
			if live, err := asked(t, c.answer).live(ctx, client.ObjectKey{Namespace: "here", Name: "semisync"}); live != nil || err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, %v, want %q", live, err, c.want)
			}
		})
	}
}

// TestHowOftenTheRecorderIsAsked: each second, every five of them while it does not answer, and under load alone.
func TestHowOftenTheRecorderIsAsked(t *testing.T) {
	t.Parallel()
	questions, silent := 0, false
	c := asked(t, func(w http.ResponseWriter, r *http.Request) {
		if questions++; silent || r.URL.Path != "/api/v1/namespaces/here/services/http:semisync-recorder:8091/proxy/live" || r.URL.RawQuery != "seconds=60" {
			http.NotFound(w, r)
			return
		}
		_ = json.NewEncoder(w).Encode(wire.RecorderLive{Nodes: []string{"semisync-db-0"}}) // who reads it notices
	})
	now := followtest.Start
	w := &watcher{cluster: c, name: client.ObjectKey{Namespace: "here", Name: "semisync"}, now: func() time.Time { return now }}
	loaded, over := followtest.Run()[6].Experiment, followtest.Run()[9].Experiment
	for _, look := range []struct {
		after  time.Duration
		silent bool
		want   int
	}{
		{0, false, 1}, {999 * time.Millisecond, false, 1}, {time.Second, false, 2}, {2 * time.Second, true, 3}, {6999 * time.Millisecond, true, 3}, {7 * time.Second, false, 4},
	} {
		silent, now = look.silent, followtest.Start.Add(look.after)
		v := w.view(t.Context(), loaded)
		if questions != look.want || v.Live == nil || (v.Silent != "") != look.silent {
			t.Errorf("after %v it was asked %d times, want %d; silent: %q, figures: %v", look.after, questions, look.want, v.Silent, v.Live)
		}
	}
	now = now.Add(time.Hour)
	if v := w.view(t.Context(), over); questions != 4 || v.Live != nil || v.Silent != "" {
		t.Errorf("when it is over it is asked, or shown: %+v", v)
	}
}

// TestLiveFiguresComeThroughTheAPIServer, as from a recorder that is a process of the test.
func TestLiveFiguresComeThroughTheAPIServer(t *testing.T) {
	t.Parallel()
	here := namespace(t)
	server := kubetest.Client(t)
	live := *followtest.Run()[6].Live
	address := recorder(t, live)
	meta := metav1.ObjectMeta{Namespace: here, Name: "semisync-recorder"}
	service := &corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "control", Port: wire.PortRecorderControl}}}}
	pod := &corev1.Pod{ObjectMeta: meta, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "recorder", Image: "none"}}}}
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
	for _, want := range []string{"stage open (2 of 2)", "load: 80 ok/s, 0 failed, p99 ≥ 701 ms, lag 350 µs on semisync-db-2, 27 s of open left"} {
		if !strings.Contains(got.out, want) {
			t.Errorf("no %q in:\n%s%s", want, got.out, got.err)
		}
	}
}

// recorder answers as one does, at an address that the API server may ask.
func recorder(t *testing.T, live wire.RecorderLive) *net.TCPAddr {
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
			if r.URL.Path == wire.RecorderPathLive && r.URL.Query().Get(wire.RecorderLiveSeconds) == "60" {
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

func TestARecorderThatCannotBeAsked(t *testing.T) {
	t.Parallel()
	here := namespace(t)
	run := begin(t, here, "run", file(t, semisync))
	operate(t, here, "semisync", v1alpha1.VerdictPassed, run.shows("no live figures"))
	got := run.ends()
	if got.code != ExitOK || strings.Count(got.out, "no live figures: the recorder does not answer the API server") != 1 {
		t.Errorf("%+v", got)
	}
}
