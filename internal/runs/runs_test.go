package runs

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/results"
)

var name = client.ObjectKey{Namespace: "here", Name: "x"}

// server answers a question for an experiment with err as long as that returns one.
func server(t *testing.T, err func() error, objects ...client.Object) Cluster {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(v1alpha1.AddToScheme(scheme), corev1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	return Cluster{Look: time.Millisecond, Client: fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if failed := err(); failed != nil {
				return failed
			}
			return c.Get(ctx, key, o, opts...)
		},
	}).Build()}
}

func experiment(complete metav1.ConditionStatus) *v1alpha1.ReplicationExperiment {
	x := &v1alpha1.ReplicationExperiment{ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name}}
	x.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionComplete, Status: complete}}
	return x
}

func never() error { return nil }

// TestAnAPIServerThatDoesNotAnswerForAWhile ends nothing: the run goes on without us.
func TestAnAPIServerThatDoesNotAnswerForAWhile(t *testing.T) {
	failures := 3
	c := server(t, func() error {
		if failures--; failures >= 0 {
			return apierrors.NewTimeoutError("busy", 1)
		}
		return nil
	}, experiment(metav1.ConditionTrue))
	seen, away := 0, 0
	x, err := Follow(t.Context(), c, name, "", time.Minute, func(x *v1alpha1.ReplicationExperiment, why error) {
		if seen++; why != nil {
			away++
		}
		if (x == nil) != (why != nil) { // nothing was seen before
			t.Errorf("shown %v, %v", x, why)
		}
	})
	if err != nil || x == nil || seen != 4 || away != 3 {
		t.Errorf("%v, %v after %d looks, %d of them without an answer", x, err, seen, away)
	}
}

// TestWhoLeavesIsNotToldOfAnOutage, which it is not when his own question was broken off.
func TestWhoLeavesIsNotToldOfAnOutage(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	c := server(t, func() error {
		leave()
		return ctx.Err()
	}, experiment(metav1.ConditionFalse))
	_, err := Follow(ctx, c, name, "", time.Minute, func(_ *v1alpha1.ReplicationExperiment, away error) { t.Errorf("told: %v", away) })
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestARunThatIsNotFollowedToItsEnd(t *testing.T) {
	nobody := func(*v1alpha1.ReplicationExperiment, error) {}
	if x, err := Follow[v1alpha1.ReplicationExperiment](t.Context(), server(t, never), name, "", time.Minute, nobody); x != nil || !apierrors.IsNotFound(err) {
		t.Errorf("one that is gone: %v, %v", x, err)
	}
	x, err := Follow[v1alpha1.ReplicationExperiment](t.Context(), server(t, never, experiment(metav1.ConditionFalse)), name, "", 20*time.Millisecond, nobody)
	if x == nil || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("one that takes too long: %v, %v", x, err)
	}
}

func TestOneThatBeginsAnewHasNotEnded(t *testing.T) {
	older := experiment(metav1.ConditionTrue)
	older.Generation, older.Status.ObservedGeneration = 2, 1 // it ended before its start, and was changed
	older.Status.Verdict = v1alpha1.VerdictInconclusive
	shown := 0
	x, err := Follow(t.Context(), server(t, never, older), name, "", 20*time.Millisecond, func(x *v1alpha1.ReplicationExperiment, _ error) {
		if shown++; x.Status.Verdict != "" || len(x.Status.Conditions) > 0 {
			t.Errorf("shown with the status of before: %+v", x.Status)
		}
	})
	if x == nil || shown == 0 || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, %v after %d looks", x, err, shown)
	}
}

// TestAnotherOfItsNameIsNotIt: what somebody puts in its place within one look is not told as its end.
func TestAnotherOfItsNameIsNotIt(t *testing.T) {
	older := experiment(metav1.ConditionFalse)
	older.UID = "older"
	c := server(t, never, older)
	x, err := Follow(t.Context(), c, name, "", time.Minute, func(x *v1alpha1.ReplicationExperiment, _ error) {
		newer := experiment(metav1.ConditionTrue)
		newer.UID = "newer"
		if err := errors.Join(c.Client.Delete(t.Context(), x), c.Create(t.Context(), newer)); err != nil {
			t.Error(err)
		}
	})
	if x == nil || x.UID != "older" || !apierrors.IsNotFound(err) {
		t.Errorf("%+v, %v", x, err)
	}
	if x, err := Follow(t.Context(), c, name, "older", time.Minute, func(*v1alpha1.ReplicationExperiment, error) {}); x != nil || !apierrors.IsNotFound(err) {
		t.Errorf("by its UID: %+v, %v", x, err)
	}
}

// TestATokenIsShownToTheAPIServerAlone: a pod behind it may answer with a redirect.
func TestATokenIsShownToTheAPIServerAlone(t *testing.T) {
	asked := make(chan string, 1)
	foreign := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.Header.Get("Authorization") }))
	t.Cleanup(foreign.Close)
	api := httptest.NewServer(http.RedirectHandler(foreign.URL, http.StatusFound))
	t.Cleanup(api.Close)
	c, err := New(&rest.Config{Host: api.URL, BearerToken: "secret"}, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	text, err := c.Kube.CoreV1().Services("here").ProxyGet("http", "x-recorder", "1", "/live", nil).DoRaw(t.Context())
	if err == nil {
		t.Errorf("a redirect is taken for an answer: %q", text)
	}
	select {
	case token := <-asked:
		t.Errorf("the foreign host was asked, with %q", token)
	default:
	}
}

func TestResultsAreReadHoweverTheyAreKept(t *testing.T) {
	text, err := json.Marshal(results.Results{Experiment: "x"})
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err = w.Write(text)
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	for kept, m := range map[string]*corev1.ConfigMap{
		"plain":  {Data: map[string]string{results.Key: string(text)}},
		"packed": {BinaryData: map[string][]byte{results.KeyCompressed: packed.Bytes()}},
	} {
		m.ObjectMeta = metav1.ObjectMeta{Namespace: name.Namespace, Name: results.Name(name.Name)}
		if r, err := server(t, never, m).Results(t.Context(), name); err != nil || r == nil || r.Experiment != "x" {
			t.Errorf("%s: %+v, %v", kept, r, err)
		}
	}
	if r, err := server(t, never).Results(t.Context(), name); r != nil || err != nil {
		t.Errorf("without any: %+v, %v", r, err)
	}
	broken := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: results.Name(name.Name)}}
	if r, err := server(t, never, broken).Results(t.Context(), name); r != nil || err == nil {
		t.Errorf("of nothing: %+v, %v", r, err)
	}
}
