//go:build e2e

package e2e

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/e2e-framework/pkg/envconf"
	"sigs.k8s.io/e2e-framework/pkg/features"
	"sigs.k8s.io/yaml"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
	"replab.dev/internal/report/suites"
	"replab.dev/internal/suite"
	"replab.dev/test/experiment"
)

// trial is the experiment of a suite's variant, with its defaults.
func trial(t *testing.T, s *v1alpha1.ReplicationSuite, variant string) *v1alpha1.ReplicationExperiment {
	t.Helper()
	object, err := suite.Experiment(s, v1alpha1.TrialRun{Name: s.Name + "-" + variant, Variant: variant, Round: 1})
	check(t, err)
	object.SetOwnerReferences(nil)
	text, err := yaml.Marshal(object.Object)
	check(t, err)
	return experiment.Parse(t, text)
}

// leave has a suite without some of its variants, and what is said of them, in the short tier.
func leave(s *v1alpha1.ReplicationSuite, variants ...string) {
	if full || len(variants) == 0 {
		return
	}
	gone := func(variant string) bool { return variant != "" && !slices.Contains(variants, variant) }
	s.Spec.Variants = slices.DeleteFunc(s.Spec.Variants, func(v v1alpha1.SuiteVariant) bool { return gone(v.Name) })
	s.Spec.Comparisons = slices.DeleteFunc(s.Spec.Comparisons, func(c v1alpha1.SuiteComparison) bool { return gone(c.Of) || gone(c.To) })
	s.Spec.Expectations = slices.DeleteFunc(s.Spec.Expectations, func(e v1alpha1.Expectation) bool { return gone(e.Variant) })
	s.Spec.Reference = slices.DeleteFunc(s.Spec.Reference, func(r v1alpha1.ReferenceFigure) bool { return gone(r.Variant) })
}

// shortSuite runs each variant once, with small tables, and changed as shorten does. The short tier has only those of the variants that are named.
func shortSuite(t *testing.T, name string, shorten func(*v1alpha1.ReplicationExperimentSpec), variants ...string) *v1alpha1.ReplicationSuite {
	t.Helper()
	s := experiment.LoadSuite(t, name)
	leave(s, variants...)
	short := s.DeepCopy()
	short.Spec.Trials, short.Spec.KeepTrials = 1, 0
	short.Spec.Template.Spec.Raw = []byte("{}")
	for i, v := range s.Spec.Variants {
		x := trial(t, s, v.Name)
		x.Spec.Keep, x.Spec.Dataset.Users = "", min(x.Spec.Dataset.Users, 2000)
		shorten(&x.Spec)
		text, err := json.Marshal(x.Spec)
		check(t, err)
		short.Spec.Variants[i].Patch = &runtime.RawExtension{Raw: text}
		short.Spec.Reference = slices.DeleteFunc(short.Spec.Reference, func(r v1alpha1.ReferenceFigure) bool {
			return r.Variant == v.Name && r.Stage != "" && !slices.ContainsFunc(x.Spec.Load.Stages, func(s v1alpha1.Stage) bool { return s.Name == r.Stage })
		})
	}
	// One round has no interval.
	short.Spec.Expectations = slices.DeleteFunc(short.Spec.Expectations, func(e v1alpha1.Expectation) bool { return e.Comparison != "" })
	return short
}

// runSuite carries a suite out from one object, and prints its tables. It is Passed: its expectations are met.
func runSuite(t *testing.T, s *v1alpha1.ReplicationSuite, assess func(*testing.T, *v1alpha1.ReplicationSuite)) {
	t.Parallel()
	testenv.Test(t, features.New("suite "+s.Name).
		Setup(func(ctx context.Context, t *testing.T, cfg *envconf.Config) context.Context {
			largest := int64(0)
			for _, v := range s.Spec.Variants {
				largest = max(largest, requested(trial(t, s, v.Name)))
			}
			need := halfCluster
			if full {
				need = wholeCluster // its figures are held against documents
			}
			hold(ctx, t, need)
			defer cluster.Release(need)
			check(t, requests.Acquire(ctx, largest))
			t.Cleanup(func() { requests.Release(largest) })
			s.ObjectMeta = metav1.ObjectMeta{Name: s.Name, Namespace: namespace}
			check(t, cfg.Client().Resources().Create(ctx, s))
			awaitSuite(ctx, t, cfg, s)
			return ctx
		}).
		Assess("the suite is Passed", func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			var b strings.Builder
			suites.Write(&b, s, true)
			t.Logf("\n%s", b.String())
			if s.Status.Verdict != v1alpha1.VerdictPassed || s.Status.Trials.Done != s.Status.Trials.Total {
				t.Errorf("%s: %q", s.Status.Verdict, s.Status.Reasons)
			}
			return ctx
		}).
		Assess("its figures are as the variants were set up", func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			assess(t, s)
			return ctx
		}).
		Teardown(func(ctx context.Context, t *testing.T, cfg *envconf.Config) context.Context {
			check(t, cfg.Client().Resources().Delete(ctx, s))
			for _, run := range s.Status.Runs {
				x := &v1alpha1.ReplicationExperiment{ObjectMeta: metav1.ObjectMeta{Name: run.Name, Namespace: namespace}}
				goes(ctx, t, cfg, x, time.Now(), kube.LabelExperiment+"="+run.Name)
			}
			return ctx
		}).Feature())
}

// awaitSuite reads a suite until it is complete, and prints what it waits for.
func awaitSuite(ctx context.Context, t *testing.T, cfg *envconf.Config, s *v1alpha1.ReplicationSuite) {
	t.Helper()
	began, last := time.Now(), ""
	for {
		check(t, cfg.Client().Resources().Get(ctx, s.Name, s.Namespace, s))
		c := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionComplete)
		if c != nil && c.Message != last {
			last = c.Message
			t.Logf("%4.0f s  %s: %s", time.Since(began).Seconds(), c.Reason, last)
		}
		if c != nil && c.Status == metav1.ConditionTrue {
			return
		}
		if most := time.Duration(len(s.Spec.Variants)+int(s.Spec.Retries)) * completeTimeout; time.Since(began) > most {
			t.Fatalf("suite %s is not complete after %s: %s", s.Name, most, last)
		}
		time.Sleep(500 * time.Millisecond) // between two looks
	}
}

// median of a variant's figure, and whether there is one that is exact.
func median(s *v1alpha1.ReplicationSuite, variant, name, stage, item string) (float64, bool) {
	value, err := strconv.ParseFloat(string(trialsFigure(s, variant, name, stage, item).Median), 64)
	return value, err == nil
}

// atLeast is the lower bound of the median of a variant's figure: 0 if there is none. On a busy machine few figures are exact.
func atLeast(s *v1alpha1.ReplicationSuite, variant, name, stage string) float64 {
	f := trialsFigure(s, variant, name, stage, "")
	value, err := strconv.ParseFloat(string(cmp.Or(f.Median, f.MedianAtLeast)), 64)
	if err != nil {
		return 0
	}
	return value
}

func trialsFigure(s *v1alpha1.ReplicationSuite, variant, name, stage, item string) v1alpha1.TrialsFigure {
	for _, v := range s.Status.Variants {
		i := slices.IndexFunc(v.Figures, func(f v1alpha1.TrialsFigure) bool {
			return string(f.Name) == name && f.Stage == stage && f.Item == item
		})
		if v.Name == variant && i >= 0 {
			return v.Figures[i]
		}
	}
	return v1alpha1.TrialsFigure{}
}
