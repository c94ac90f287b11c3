package suite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/yaml"

	"replab.dev/api/v1alpha1"
	"replab.dev/api/v1alpha1/validation"
	"replab.dev/controllers/cached"
	"replab.dev/internal/cluster"
	"replab.dev/internal/engine/mysql"
	"replab.dev/test/experiment"
)

// ending is what comes of a trial.
type ending struct {
	verdict v1alpha1.Verdict
	lost    int64
	rate    int64 // requests a second
	refused bool  // it does not start
	reason  string
}

// world is an API server with an operator of experiments that ends each trial as the test wants it.
type world struct {
	t      *testing.T
	client client.WithWatch
	now    time.Time
	ends   func(name string) ending
	// killAt is the write, from 1, at which the operator of suites is killed: before it takes effect, or after.
	killAt int
	before bool
	// killEvery kills it at every so manieth write instead, by turns before and after.
	killEvery int
	kills     int
	writes    int
	events    chan string
	order     []string // of the trials, as they began
	// stands tells whether trials stay under way.
	stands bool
	// remain tells whether databases stay, although keep is Never.
	remain bool
	// lags tells whether the cache is three looks behind.
	lags bool
	// undecodable are the names of experiments that Go cannot decode.
	undecodable []string
	cached      []*v1alpha1.ReplicationExperimentList
}

var errKilled = errors.New("the operator was killed")

func newWorld(t *testing.T, ends func(string) ending) *world {
	w := &world{t: t, now: time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC), ends: ends, events: make(chan string, 1000)}
	scheme := runtime.NewScheme()
	must(t, v1alpha1.AddToScheme(scheme))
	must(t, corev1.AddToScheme(scheme))
	w.client = fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(&v1alpha1.ReplicationSuite{}, &v1alpha1.ReplicationExperiment{}).
		WithInterceptorFuncs(interceptor.Funcs{Get: w.get, Create: w.create, Patch: w.patch, SubResourcePatch: w.patchStatus}).Build()
	return w
}

func (w *world) write(do func() error) error {
	w.writes++
	switch {
	case w.writes == w.killAt:
	case w.killEvery > 0 && w.writes%w.killEvery == 0:
		w.before = !w.before
	default:
		return do()
	}
	w.kills++
	if !w.before {
		must(w.t, do())
	}
	return errKilled
}

// create gives an experiment what the API server gives it.
func (w *world) create(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.CreateOption) error {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return c.Create(ctx, obj, opts...)
	}
	var o client.CreateOptions
	o.ApplyOptions(opts)
	text, err := yaml.Marshal(u.Object)
	if err != nil {
		return err
	}
	if strings.Contains(string(text), "nonsense") {
		return apierrors.NewBadRequest(`unknown field "spec.nonsense"`)
	}
	x := experiment.Parse(w.t, text)
	if u.Object, err = runtime.DefaultUnstructuredConverter.ToUnstructured(x); err != nil {
		return err
	}
	u.SetUID(types.UID(fmt.Sprintf("uid-%s-%d", x.Name, w.writes)))
	if len(o.DryRun) > 0 {
		return c.Create(ctx, u, opts...)
	}
	return w.write(func() error {
		if err := c.Create(ctx, u, opts...); err != nil {
			return err
		}
		w.order = append(w.order, u.GetName())
		return nil
	})
}

func (w *world) patch(ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
	return w.write(func() error {
		if err := c.Patch(ctx, obj, patch, opts...); err != nil {
			return err
		}
		obj.SetGeneration(obj.GetGeneration() + 1)
		return c.Update(ctx, obj)
	})
}

func (w *world) patchStatus(ctx context.Context, c client.Client, sub string, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
	return w.write(func() error { return c.SubResource(sub).Patch(ctx, obj, patch, opts...) })
}

// Get and List are the cache's.
func (w *world) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	err := w.client.Get(ctx, key, obj, opts...)
	x, ok := obj.(*v1alpha1.ReplicationExperiment)
	if err != nil || !ok || !slices.Contains(w.undecodable, key.Name) {
		return err
	}
	bad := &cached.Undecodable{Conditions: x.Status.Conditions, Why: "spec.app.replicas: too large"}
	bad.ObjectMeta = x.ObjectMeta
	return &cached.UndecodableError{Experiment: bad}
}

// get is the API server's.
func (w *world) get(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	err := c.Get(ctx, key, obj, opts...)
	if u, ok := obj.(*unstructured.Unstructured); ok && err == nil && slices.Contains(w.undecodable, key.Name) {
		return unstructured.SetNestedField(u.Object, int64(3_000_000_000), "spec", "app", "replicas")
	}
	return err
}

func (w *world) List(ctx context.Context, list client.ObjectList, _ ...client.ListOption) error {
	if w.lags && len(w.cached) > 0 {
		w.cached[max(0, len(w.cached)-3)].DeepCopyInto(list.(*v1alpha1.ReplicationExperimentList))
		return nil
	}
	err := w.client.List(ctx, list)
	if all, ok := list.(*v1alpha1.ReplicationExperimentList); ok {
		all.Items = slices.DeleteFunc(all.Items, func(x v1alpha1.ReplicationExperiment) bool { return slices.Contains(w.undecodable, x.Name) })
	}
	return err
}

func (w *world) reconciler() *Reconciler {
	return &Reconciler{
		Client: w.client, Experiments: w, Cluster: &cluster.Cluster{Client: w.client}, Writer: w.client, Servers: validation.Servers{v1alpha1.EngineMySQL: mysql.Server{}},
		Events: &events.FakeRecorder{Events: w.events}, Now: func() time.Time { return w.now },
	}
}

// play is what the operator of experiments does: one look at each.
func (w *world) play() {
	var all v1alpha1.ReplicationExperimentList
	must(w.t, w.client.List(w.t.Context(), &all))
	w.cached = append(w.cached, all.DeepCopy())
	for i := range all.Items {
		x := &all.Items[i]
		s := &x.Status
		complete := meta.IsStatusConditionTrue(s.Conditions, v1alpha1.ConditionComplete)
		end := w.ends(x.Name)
		switch {
		case complete && s.ObservedGeneration == x.Generation:
			continue
		case complete && w.remain:
			continue
		case complete:
			s.ObservedGeneration = x.Generation // its databases are gone
		case x.Spec.Abort:
			end = ending{verdict: v1alpha1.VerdictInconclusive, refused: s.StartTime == nil}
			fallthrough
		case !w.stands:
			start, now := metav1.NewTime(w.now), metav1.NewTime(w.now.Add(time.Minute))
			s.StartTime, s.CompletionTime, s.Verdict, s.ObservedGeneration = &start, &now, end.verdict, x.Generation
			s.Reasons = []string{cmp.Or(end.reason, "because")}
			if end.refused {
				s.StartTime = nil
			}
			s.Writes = &v1alpha1.WritesStatus{Lost: ptr.To(end.lost)}
			s.Load = &v1alpha1.LoadStatus{}
			s.Load.RequestsPerSecondMilli = ptr.To(end.rate * 1000)
			meta.SetStatusCondition(&s.Conditions, metav1.Condition{Type: v1alpha1.ConditionComplete, Status: metav1.ConditionTrue, Reason: string(end.verdict)})
			w.now = w.now.Add(time.Minute)
		}
		must(w.t, w.client.Status().Update(w.t.Context(), x))
	}
}

// apply creates a suite with its defaults.
func (w *world) apply(text string) {
	w.t.Helper()
	s := parse(w.t, text)
	must(w.t, w.client.Create(w.t.Context(), s))
}

func (w *world) suite(name string) *v1alpha1.ReplicationSuite {
	w.t.Helper()
	s := &v1alpha1.ReplicationSuite{}
	must(w.t, w.client.Get(w.t.Context(), client.ObjectKey{Namespace: "default", Name: name}, s))
	return s
}

// edit is what a person does to a suite.
func (w *world) edit(name string, change func(*v1alpha1.ReplicationSuite)) {
	w.t.Helper()
	s := w.suite(name)
	change(s)
	s.Generation++
	must(w.t, w.client.Update(w.t.Context(), s))
}

// pass has the operators look once. An operator that was killed is started anew.
func (w *world) pass(r **Reconciler, name string) {
	w.t.Helper()
	_, err := (*r).Reconcile(w.t.Context(), ctrl.Request{NamespacedName: types.NamespacedName{Namespace: "default", Name: name}})
	switch {
	case errors.Is(err, errKilled):
		*r = w.reconciler()
	case err != nil:
		w.t.Fatal(err)
	}
	w.play()
	w.now = w.now.Add(time.Second)
}

// until carries suites on until something is true of the first.
func (w *world) until(done func(*v1alpha1.ReplicationSuite) bool, names ...string) *v1alpha1.ReplicationSuite {
	w.t.Helper()
	r := w.reconciler()
	for range 500 {
		for _, name := range names {
			w.pass(&r, name)
		}
		if s := w.suite(names[0]); done(s) {
			return s
		}
	}
	s := w.suite(names[0])
	w.t.Fatalf("the suite does not come that far: %+v", s.Status)
	return nil
}

func passed(string) ending { return ending{verdict: v1alpha1.VerdictPassed, rate: 100} }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
