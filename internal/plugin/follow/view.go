// Package follow shows how a run goes on: a view of it at a moment, and the events between two views, a line each. It is pure.
package follow

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
	"replab.dev/internal/plain"
	"replab.dev/internal/wire"
)

// View is what is known of a run at a moment.
type View struct {
	Experiment *v1alpha1.ReplicationExperiment
	Age        time.Duration // of the experiment
	// Live is the recorder's last answer, nil before the first.
	Live *wire.RecorderLive
	// Silent says why the recorder did not answer; empty if it did, or was not asked.
	Silent string
	// Away says why the API server did not answer. The other fields are older then.
	Away string
}

// loadStart is when the load began, by the recorder's clock; nil before it.
func (v View) loadStart() *metav1.MicroTime {
	if v.Live != nil && v.Live.LoadStartedAt != nil {
		return v.Live.LoadStartedAt
	}
	return v.Experiment.Status.LoadStartTime
}

// Loaded is how long ago the load began; false before it. While the recorder answers, its clock alone says it.
func (v View) Loaded() (time.Duration, bool) {
	start := v.loadStart()
	if start == nil {
		return 0, false
	}
	now := v.Experiment.CreationTimestamp.Add(v.Age)
	if v.Live != nil && v.Live.Now != nil && v.Silent == "" && v.Away == "" {
		now = v.Live.Now.Time
	}
	return max(now.Sub(start.Time), 0), true
}

// UnderLoad is when the recorder has live figures.
func UnderLoad(x *v1alpha1.ReplicationExperiment) bool {
	return between(x, v1alpha1.ConditionSeeded, v1alpha1.ConditionLoadFinished)
}

// between two steps: the first is done, the second is not.
func between(x *v1alpha1.ReplicationExperiment, behind, ahead string) bool {
	s := x.Status
	return s.Verdict == "" && meta.IsStatusConditionTrue(s.Conditions, behind) && !meta.IsStatusConditionTrue(s.Conditions, ahead)
}

// Stage is the one that is under way.
type Stage struct {
	wire.LiveStage
	Number  int // from 1
	Elapsed time.Duration
}

// Planned is how long it is to take.
func (s Stage) Planned() time.Duration { return time.Duration(s.DurationSeconds) * time.Second }

// Left of its planned time; 0 when that is over.
func (s Stage) Left() time.Duration { return max(s.Planned()-s.Elapsed, 0) }

// Stage returns the last stage that has begun, by the recorder's clock alone.
func (v View) Stage() (Stage, bool) {
	if v.Live == nil || v.Live.Now == nil {
		return Stage{}, false
	}
	for i := len(v.Live.Stages) - 1; i >= 0; i-- {
		if s := v.Live.Stages[i]; s.StartedAt != nil {
			return Stage{LiveStage: s, Number: i + 1, Elapsed: max(v.Live.Now.Sub(s.StartedAt.Time), 0)}, true // clocks are set back
		}
	}
	return Stage{}, false
}

// Charted are the newest seconds, at most so many. Those of discarded stages end with them: a warmup's scale hides the rest.
func (v View) Charted(most int) []wire.Second {
	discarded := map[string]bool{}
	for _, s := range v.Experiment.Spec.Load.Stages {
		discarded[s.Name] = s.Discard
	}
	seconds, stages := v.Live.Recent, v.Live.Stages
	for i := 1; i < len(stages) && stages[i].StartedAt != nil; i++ {
		if !discarded[stages[i-1].Name] || discarded[stages[i].Name] {
			continue
		}
		begun := slices.IndexFunc(seconds, func(s wire.Second) bool { return !s.At.Before(stages[i].StartedAt) })
		if begun > 0 {
			seconds = seconds[begun:]
		}
	}
	return seconds[max(len(seconds)-most, 0):]
}

// Last is the newest second of the load that is over.
func (v View) Last() (wire.Second, bool) {
	if v.Live == nil || len(v.Live.Recent) == 0 {
		return wire.Second{}, false
	}
	return v.Live.Recent[len(v.Live.Recent)-1], true
}

// Writer is the node that acknowledged the last write of the last minute.
func (v View) Writer() string {
	if v.Live == nil {
		return ""
	}
	for i := len(v.Live.Recent) - 1; i >= 0; i-- {
		if w := v.Live.Recent[i].Writer; w != "" {
			return w
		}
	}
	return ""
}

// Lag of a node.
type Lag struct {
	Node         string // empty if its name is not known
	Microseconds int64
}

// String is the time with the node.
func (l Lag) String() string {
	if l.Node == "" {
		return l.time()
	}
	return l.time() + " on " + plain.Line(l.Node)
}

func (l Lag) time() string { return Time(l.Microseconds, false) }

// Time shows microseconds, or a lower bound in them.
func Time(us int64, bound bool) string {
	f := figure.Exact("microseconds", us)
	if bound {
		f.AtMost = nil
	}
	return f.Text()
}

// Seconds of a time that people wait, as whole seconds.
func Seconds(d time.Duration) string {
	s := int64(d.Round(time.Second) / time.Second)
	if s < 60 {
		return fmt.Sprintf("%d s", s)
	}
	return strings.TrimSuffix(fmt.Sprintf("%d min %d s", s/60, s%60), " 0 s")
}

// Lag is the largest of the nodes in a second. Like the status it leaves out former primaries. It is false if no lag was measured.
func (v View) Lag(s wire.Second) (l Lag, ok bool) {
	l.Microseconds = -1
	for i, us := range s.LagMicroseconds {
		node := ""
		if i < len(v.Live.Nodes) {
			node = v.Live.Nodes[i]
		}
		if us > l.Microseconds && !slices.Contains(v.Live.FormerPrimaries, node) {
			l = Lag{node, us}
		}
	}
	return l, l.Microseconds >= 0
}

// lagged is the newest second with a lag: that of the last one comes a moment after it.
func (v View) lagged() (Lag, bool) {
	for back := 1; v.Live != nil && back <= 2 && back <= len(v.Live.Recent); back++ {
		if lag, ok := v.Lag(v.Live.Recent[len(v.Live.Recent)-back]); ok {
			return lag, true
		}
	}
	return Lag{}, false
}

// Succeeded are the requests of a second that did, as the rate of a run counts them.
func Succeeded(s wire.Second) int64 { return s.Requests - s.Failures }

// P99IsBound is true if a second's p99 is a lower bound.
func P99IsBound(s wire.Second) bool { return slices.Contains(s.LowerBounds, v1alpha1.P99) }

// Figures of the last second. What was not measured is left out.
func (v View) Figures() []string { return v.figures(Lag.String) }

// ShortFigures leave out the node of the lag.
func (v View) ShortFigures() []string { return v.figures(Lag.time) }

func (v View) figures(word func(Lag) string) []string {
	s, ok := v.Last()
	if !ok {
		return nil
	}
	words := []string{fmt.Sprintf("%d ok/s", Succeeded(s)), fmt.Sprintf("%d failed", s.Failures)}
	if s.P99Microseconds != nil {
		words = append(words, "p99 "+Time(*s.P99Microseconds, P99IsBound(s)))
	}
	if lag, ok := v.lagged(); ok {
		words = append(words, "lag "+word(lag))
	}
	return words
}
