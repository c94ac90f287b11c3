package plugin

import (
	"context"
	"errors"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/plugin/follow"
	"replab.dev/internal/plugin/follow/followtest"
	"replab.dev/internal/runs"
	"replab.dev/internal/wire"
)

// TestViewKeepsLastStateWithoutAPIServer, with its age of now.
func TestViewKeepsLastStateWithoutAPIServer(t *testing.T) {
	x := followtest.Run()[6].Experiment.DeepCopy()
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	looks := 0
	answers := interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
		switch looks++; looks {
		case 1, 3:
			return errors.New("refused")
		case 4:
			return apierrors.NewNotFound(v1alpha1.GroupVersion.WithResource("replicationexperiments").GroupResource(), key.Name)
		}
		return c.Get(ctx, key, o, opts...)
	}}
	c := Cluster{Cluster: runs.Cluster{Look: time.Millisecond, Client: fake.NewClientBuilder().WithScheme(scheme).WithObjects(x).WithInterceptorFuncs(answers).Build()}}
	now := x.CreationTimestamp.Add(time.Minute)
	w := &watcher{cluster: c, name: client.ObjectKeyFromObject(x), limit: time.Minute, due: now.Add(time.Hour), live: &wire.RecorderLive{}, now: func() time.Time {
		now = now.Add(time.Second)
		return now
	}}
	var views []follow.View
	if _, err := w.follow(t.Context(), func(v follow.View) { views = append(views, v) }); !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
	if len(views) != 2 || views[0].Away != "" || views[1].Away != "refused" || views[1].Live == nil || views[1].Experiment.Name != x.Name || views[1].Age <= views[0].Age {
		t.Errorf("%d looks were shown: %+v", len(views), views)
	}
}
