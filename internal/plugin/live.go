package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/plugin/follow"
	"replab.dev/internal/wire"
)

const (
	// liveEach is how often the recorder is asked, liveTimeout how long it may take: it must not be kept from its work, nor keep us from ours.
	liveEach    = time.Second
	liveTimeout = 900 * time.Millisecond
	// liveAgain is how soon a recorder that could not be asked is asked again.
	liveAgain = 5 * time.Second
)

// watcher puts together what is to be seen of a run.
type watcher struct {
	cluster Cluster
	name    client.ObjectKey
	uid     types.UID
	limit   time.Duration
	now     func() time.Time

	live   *wire.RecorderLive
	silent string
	due    time.Time
}

// follow shows the run to see at each look, once there was an answer to one.
func (w *watcher) follow(ctx context.Context, see func(follow.View)) (*v1alpha1.ReplicationExperiment, error) {
	return w.cluster.FollowOne(ctx, w.name, w.uid, w.limit, func(x *v1alpha1.ReplicationExperiment, away error) {
		switch {
		case x == nil:
		case away != nil:
			see(follow.View{Experiment: x, Age: age(x, w.now()), Live: w.live, Away: away.Error()})
		default:
			see(w.view(ctx, x))
		}
	})
}

func age(x *v1alpha1.ReplicationExperiment, now time.Time) time.Duration {
	return max(now.Sub(x.CreationTimestamp.Time), 0)
}

// view of an experiment as it was just read.
func (w *watcher) view(ctx context.Context, x *v1alpha1.ReplicationExperiment) follow.View {
	now := w.now()
	if follow.UnderLoad(x) && !now.Before(w.due) {
		w.ask(ctx, now)
	}
	if !follow.UnderLoad(x) {
		w.live, w.silent = nil, ""
	}
	return follow.View{Experiment: x, Age: age(x, now), Live: w.live, Silent: w.silent}
}

func (w *watcher) ask(ctx context.Context, now time.Time) {
	limited, cancel := context.WithTimeout(ctx, liveTimeout)
	defer cancel()
	live, err := w.cluster.live(limited, w.name)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		w.silent, w.due = err.Error(), now.Add(liveAgain)
		return
	}
	w.live, w.silent, w.due = live, "", now.Add(liveEach)
}

// said is what the API server has to say of an answer that it did not get.
func said(text []byte) string {
	var status metav1.Status
	if json.Unmarshal(text, &status) != nil || status.Message == "" {
		return ""
	}
	return ": " + status.Message
}

// live asks an experiment's recorder through the API server.
func (c Cluster) live(ctx context.Context, experiment client.ObjectKey) (*wire.RecorderLive, error) {
	query := map[string]string{wire.RecorderLiveSeconds: strconv.Itoa(wire.RecorderLiveMost)}
	text, err := c.Kube.CoreV1().Services(experiment.Namespace).
		ProxyGet("http", experiment.Name+"-recorder", strconv.Itoa(wire.PortRecorderControl), wire.RecorderPathLive, query).DoRaw(ctx)
	switch {
	case apierrors.IsForbidden(err):
		return nil, errors.New("you may not get services/proxy in namespace " + experiment.Namespace)
	case apierrors.IsNotFound(err) && said(text) == "":
		return nil, errors.New("the recorder tells none: it is of an older replab than the plugin")
	case apierrors.IsServiceUnavailable(err), apierrors.IsNotFound(err):
		return nil, errors.New("the API server does not get an answer of the recorder" + said(text))
	case errors.Is(err, context.DeadlineExceeded):
		return nil, errors.New("the API server does not reach the recorder in time: a network policy may be in the way")
	case err != nil:
		return nil, err
	}
	live := &wire.RecorderLive{}
	if err := json.Unmarshal(text, live); err != nil {
		return nil, fmt.Errorf("what the recorder told cannot be read: %w", err)
	}
	return live, nil
}
