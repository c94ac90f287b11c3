// Package runs follows experiments and suites on a cluster, and reads what came of them.
package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/bounded"
	"replab.dev/internal/results"
)

// Cluster carries experiments out.
type Cluster struct {
	client.Client
	Look time.Duration        // the time between two looks
	Kube kubernetes.Interface // for what pods have written
}

// How long whoever follows a run has patience with the API server: the run goes on without us.
const (
	unreachable = time.Minute      // it may fail to answer
	patience    = 10 * time.Second // what one answer may take
)

// New is a cluster whose API server is reached by a configuration.
func New(config *rest.Config, look time.Duration) (Cluster, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(v1alpha1.AddToScheme(scheme), clientgoscheme.AddToScheme(scheme)); err != nil {
		return Cluster{}, err
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return Cluster{}, err
	}
	h, err := rest.HTTPClientFor(config)
	if err != nil {
		return Cluster{}, err
	}
	kube, err := kubernetes.NewForConfigAndClient(config, staying(h))
	return Cluster{Client: c, Look: look, Kube: kube}, err
}

// staying follows no redirect: what a pod answers comes through the API server as it is, and a transport adds the person's token to whatever
// it is told to ask. What a pod answers is bounded too.
func staying(h *http.Client) *http.Client {
	same := *h
	if same.Transport == nil {
		same.Transport = http.DefaultTransport
	}
	same.Transport = podAnswers{same.Transport}
	same.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &same
}

// podAnswerMost is how much memory an answer of a pod may take.
const podAnswerMost = 16 << 20

// podAnswers bounds what comes from a pod through the API server.
type podAnswers struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (p podAnswers) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.Contains(r.URL.Path, "/proxy/") {
		return bounded.Transport{Base: p.RoundTripper, Most: podAnswerMost}.RoundTrip(r)
	}
	return p.RoundTripper.RoundTrip(r)
}

// Kind is a pointer to an experiment or to a suite.
type Kind[T any] interface {
	*T
	client.Object
	GetConditions() []metav1.Condition
	Ended() bool
	Renew()
}

// Follow shows an object to seen at each look until it is complete, and returns its last state. It follows the object with a UID, or without one the
// first that it sees: another object of the same name means that this one is gone. A look without an answer is shown too, with the reason and the
// last state, which is nil before the first answer.
func Follow[T any, P Kind[T]](ctx context.Context, c Cluster, name client.ObjectKey, uid types.UID, limit time.Duration, seen func(x P, away error)) (last P, err error) {
	answered := time.Now()
	err = wait.PollUntilContextTimeout(ctx, c.Look, limit, true, func(ctx context.Context) (bool, error) {
		now := P(new(T)) // a used one would keep what the next answer lacks
		if err := c.get(ctx, name, now); err != nil {
			if apierrors.IsNotFound(err) || time.Since(answered) > unreachable {
				return false, err
			}
			if ctx.Err() == nil { // else it is who followed that has left, or has no more time
				seen(last, err)
			}
			return false, nil
		}
		if uid = cmp.Or(uid, now.GetUID()); now.GetUID() != uid {
			return false, apierrors.NewNotFound(v1alpha1.GroupVersion.WithResource("experiments and suites").GroupResource(), name.Name)
		}
		answered = time.Now()
		now.Renew() // until the operator does
		last = now
		seen(now, nil)
		return now.Ended(), nil
	})
	if err != nil {
		return last, fmt.Errorf("wait for the end of %s: %w", name.Name, err)
	}
	return last, nil
}

func (c Cluster) get(ctx context.Context, name client.ObjectKey, into client.Object) error {
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := c.Get(limited, name, into)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("the API server gave no answer within %s", patience) // and not that the time to follow is over
	}
	return err
}

// Delete has an experiment and all that belongs to it removed, and tells whether there was one. With a UID it is that one or none.
func (c Cluster) Delete(ctx context.Context, x *unstructured.Unstructured) (bool, error) {
	options := []client.DeleteOption{client.PropagationPolicy(metav1.DeletePropagationForeground)}
	if uid := x.GetUID(); uid != "" {
		options = append(options, client.Preconditions{UID: &uid})
	}
	err := c.Client.Delete(ctx, x.DeepCopy(), options...)
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("remove experiment %s: %w", x.GetName(), err)
	}
	return err == nil, nil
}

// AwaitGone returns once nothing is left of an experiment that was deleted; with a UID another one may have its name by then.
func (c Cluster) AwaitGone(ctx context.Context, x *unstructured.Unstructured, limit time.Duration) error {
	err := wait.PollUntilContextTimeout(ctx, c.Look, limit, true, func(ctx context.Context) (bool, error) {
		now := x.DeepCopy()
		err := c.Get(ctx, client.ObjectKeyFromObject(x), now)
		return apierrors.IsNotFound(err) || err == nil && x.GetUID() != "" && now.GetUID() != x.GetUID(), client.IgnoreNotFound(err)
	})
	if err != nil {
		return fmt.Errorf("wait until experiment %s is gone: %w", x.GetName(), err)
	}
	return nil
}

// Results returns the results document of an experiment, nil when there is none.
func (c Cluster) Results(ctx context.Context, experiment client.ObjectKey) (*results.Results, error) {
	var m corev1.ConfigMap
	err := c.Get(ctx, client.ObjectKey{Namespace: experiment.Namespace, Name: results.Name(experiment.Name)}, &m)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return results.Read(&m)
}
