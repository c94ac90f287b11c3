// Package follow tells how a run goes on: what is to be seen of it at a moment, and the events between two moments, a line each. It is pure.
package follow

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/report/table"
	"replab.dev/internal/wire"
)

// View is what is known of a run at a moment.
type View struct {
	Experiment *v1alpha1.ReplicationExperiment
	Age        time.Duration // of the experiment
	// Live is what the recorder last told, nil before it has.
	Live *wire.RecorderLive
	// Silent says why the recorder could not be asked, empty where it could or need not be.
	Silent string
	// Away says why the API server did not answer; the rest is then as it was last.
	Away string
}

// UnderLoad tells whether the recorder has something to tell.
func UnderLoad(x *v1alpha1.ReplicationExperiment) bool {
	return between(x, v1alpha1.ConditionSeeded, v1alpha1.ConditionLoadFinished)
}

// between tells that a run has one step behind it and another one still to take.
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

// Last is the newest second of the load that is over.
func (v View) Last() (wire.Second, bool) {
	if v.Live == nil || len(v.Live.Recent) == 0 {
		return wire.Second{}, false
	}
	return v.Live.Recent[len(v.Live.Recent)-1], true
}

// Writer is the node that acknowledged the last write, as far as the last minute tells.
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
	Node string // empty where its name is not known
	time.Duration
}

// String has the node behind the time.
func (l Lag) String() string {
	if l.Node == "" {
		return Span(l.Duration)
	}
	return Span(l.Duration) + " on " + table.Plain(l.Node)
}

// Lag is the largest of the nodes in a second, as the status has it: without those of nodes that were primary before. False where none was
// measured.
func (v View) Lag(s wire.Second) (l Lag, ok bool) {
	most := int64(-1)
	for i, us := range s.LagMicroseconds {
		node := ""
		if i < len(v.Live.Nodes) {
			node = v.Live.Nodes[i]
		}
		if us > most && !slices.Contains(v.Live.FormerPrimaries, node) {
			most, l.Node = us, node
		}
	}
	l.Duration = time.Duration(most) * time.Microsecond
	return l, most >= 0
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

// P99IsBound tells that a second's p99 was that or more.
func P99IsBound(s wire.Second) bool { return slices.Contains(s.LowerBounds, v1alpha1.P99) }

// Figures of the last second, a word each; what was not measured is left out.
func (v View) Figures() []string { return v.figures(Lag.String) }

// ShortFigures do without the lag's node.
func (v View) ShortFigures() []string {
	return v.figures(func(l Lag) string { return Span(l.Duration) })
}

func (v View) figures(word func(Lag) string) []string {
	s, ok := v.Last()
	if !ok {
		return nil
	}
	words := []string{fmt.Sprintf("%d succeeded/s", Succeeded(s)), fmt.Sprintf("%d failed", s.Failures)}
	if s.P99Microseconds != nil {
		words = append(words, "p99 "+Percentile(time.Duration(*s.P99Microseconds)*time.Microsecond, P99IsBound(s)))
	}
	if lag, ok := v.lagged(); ok {
		words = append(words, "lag "+word(lag))
	}
	return words
}
