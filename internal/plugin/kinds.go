package plugin

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/plain"
)

// Words for the two kinds. As NAME they may stand before a slash, as in suite/distance.
const (
	experimentNoun = "experiment"
	suiteNoun      = "suite"
)

// kinds that are carried out.
const (
	experimentKind = "ReplicationExperiment"
	suiteKind      = "ReplicationSuite"
)

func isSuite(x *unstructured.Unstructured) bool { return isRun(x) && x.GetKind() == suiteKind }

// isRun tells what is carried out from what it needs. Unknown kinds and versions of our group are among the former, so that they are refused.
func isRun(x *unstructured.Unstructured) bool {
	group, _, _ := strings.Cut(x.GetAPIVersion(), "/")
	return group == v1alpha1.GroupVersion.Group
}

// unsupported says what is wrong with the kind or the version of a run, "" if they are known.
func unsupported(x *unstructured.Unstructured) string {
	version := v1alpha1.GroupVersion.String()
	switch kind := x.GetKind(); {
	case kind != experimentKind && kind != suiteKind:
		return fmt.Sprintf("kind: %s is unknown. Use %s or %s of %s.", plain.Line(kind), experimentKind, suiteKind, version)
	case x.GetAPIVersion() != version:
		return fmt.Sprintf("apiVersion: %s is unknown. Use %s.", plain.Line(x.GetAPIVersion()), version)
	}
	return ""
}

// named is an experiment or a suite in words.
func named(x *unstructured.Unstructured) string {
	if isSuite(x) {
		return suiteNoun + " " + plain.Line(x.GetName())
	}
	return experimentNoun + " " + plain.Line(x.GetName())
}

// plainName is the name of others' object, in one line.
func plainName(x *unstructured.Unstructured) string { return lead(x.GetName()) }

// lead is others' text at the begin of a line. Quotes keep a CI server from obeying one that looks like a command of its own.
func lead(text string) string {
	text = plain.Line(text)
	if strings.HasPrefix(strings.TrimSpace(text), "::") {
		return strconv.Quote(text)
	}
	return text
}

// capital begins a sentence.
func capital(words string) string { return strings.ToUpper(words[:1]) + words[1:] }

// older is what the cluster has under a name.
type older struct {
	metav1.ObjectMeta
	verdict v1alpha1.Verdict
	started bool
	ended   bool
}

// existing is what has the kind and the name of something that is asked for, nil where there is none.
func existing(ctx context.Context, c Cluster, x *unstructured.Unstructured) (*older, error) {
	now := &unstructured.Unstructured{}
	now.SetGroupVersionKind(x.GroupVersionKind())
	if err := c.Get(ctx, client.ObjectKeyFromObject(x), now); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		return nil, fmt.Errorf("look for %s: %w", named(x), explained(err))
	}
	return olderOf(now)
}

// olderOf decodes what experiments and suites have in common.
func olderOf(now *unstructured.Unstructured) (*older, error) {
	var both struct {
		metav1.ObjectMeta `json:"metadata"`
		Status            struct {
			ObservedGeneration int64              `json:"observedGeneration"`
			StartTime          *metav1.Time       `json:"startTime"`
			Verdict            v1alpha1.Verdict   `json:"verdict"`
			Conditions         []metav1.Condition `json:"conditions"`
		} `json:"status"`
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(now.Object, &both); err != nil {
		return nil, fmt.Errorf("decode %s: %w", named(now), err)
	}
	s := both.Status
	return &older{both.ObjectMeta, s.Verdict, s.StartTime != nil, v1alpha1.Ended(s.Conditions, s.StartTime, both.Generation, s.ObservedGeneration)}, nil
}

// Suite of the namespace by its name.
func (c Cluster) Suite(ctx context.Context, name string) (*v1alpha1.ReplicationSuite, error) {
	s := &v1alpha1.ReplicationSuite{}
	if err := c.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: name}, s); err != nil {
		if apierrors.IsNotFound(err) && !meta.IsNoMatchError(err) {
			return nil, fmt.Errorf("there is no suite %s in namespace %s: `kubectl replab list -A` shows all", name, c.Namespace)
		}
		return nil, fmt.Errorf("read suite %s: %w", name, explained(err))
	}
	return s, nil
}

// find the experiment or the suite of a name: the other one is nil. A name may have its kind before a slash.
func (c Cluster) find(ctx context.Context, name string) (*v1alpha1.ReplicationExperiment, *v1alpha1.ReplicationSuite, error) {
	s, err := c.suite(ctx, name)
	if err != nil || s != nil {
		return nil, s, err
	}
	x, err := c.Experiment(ctx, strings.TrimPrefix(name, experimentNoun+"/"))
	return x, nil, err
}

// suite returns the suite of this name. It is nil if there is none, or if suites may not be read.
func (c Cluster) suite(ctx context.Context, name string) (*v1alpha1.ReplicationSuite, error) {
	kind, rest, ok := strings.Cut(name, "/")
	switch {
	case ok && kind == suiteNoun:
		return c.Suite(ctx, rest)
	case ok && kind == experimentNoun:
		return nil, nil
	case ok:
		return nil, fmt.Errorf("there is no kind %s: write experiment/%s or suite/%[2]s", kind, rest)
	}
	s, err := c.Suite(ctx, name)
	if err != nil {
		return nil, nil //nolint:nilerr // an experiment may have the name
	}
	if _, err := c.Experiment(ctx, name); err == nil {
		return nil, fmt.Errorf("an experiment and a suite are named %s: write experiment/%[1]s or suite/%[1]s", name)
	}
	return s, nil
}
