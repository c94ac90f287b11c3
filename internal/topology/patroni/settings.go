package patroni

import (
	"time"

	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/engine"
	"replab.dev/internal/kube"
	"replab.dev/internal/topology"
	"replab.dev/internal/wire"
)

// scopeLabel is on all that Patroni looks for: the nodes' pods, and the ConfigMaps in which they agree.
const scopeLabel = "replab.dev/scope"

// defaults are Patroni's own, and those of the CRD, for a topology that says nothing of it.
var defaults = v1alpha1.PatroniSpec{
	SynchronousMode: string(engine.SyncQuorum), SynchronousNodeCount: 1, TTLSeconds: 30, LoopWaitSeconds: 10, RetryTimeoutSeconds: 10,
	MaximumLagOnFailoverBytes: 1 << 20,
}

// primaryStartSeconds is Patroni's own primary_start_timeout.
const primaryStartSeconds = 300

// spec of a topology. Types that are not Patroni take the timings from it alone.
func spec(p topology.Params) v1alpha1.PatroniSpec {
	s := defaults
	if p.Spec.Patroni != nil {
		s = *p.Spec.Patroni
	}
	if p.Spec.Type != v1alpha1.TopologyPatroni {
		s.SynchronousMode, s.SynchronousNodeCount, s.Strict = string(engine.SyncOff), 1, false
	}
	return s
}

// Settings that every node runs with.
func Settings(p topology.Params) engine.Settings {
	s := spec(p)
	seconds := func(n int64) time.Duration { return time.Duration(n) * time.Second }
	return engine.Settings{
		Durability: engine.Durability(p.Spec.Durability), Parameters: p.Spec.Parameters,
		Manager: &engine.Manager{
			Scope: ClusterName(p), Namespace: p.Namespace, Labels: kube.With(p.Labels, kube.LabelComponent, kube.ComponentNode), ScopeLabel: scopeLabel,
			RoleLabel: wire.RoleLabel, WriterValue: string(wire.RoleWriter), ReaderValue: string(wire.RoleReader),
			Synchronous: engine.SyncMode(s.SynchronousMode), NodeCount: s.SynchronousNodeCount, Strict: s.Strict, Failsafe: s.FailsafeMode,
			TTL: seconds(s.TTLSeconds), LoopWait: seconds(s.LoopWaitSeconds), RetryTimeout: seconds(s.RetryTimeoutSeconds),
			PrimaryStartTimeout: seconds(ptr.Deref(s.PrimaryStartTimeoutSeconds, primaryStartSeconds)),
			MaxLagBytes:         s.MaximumLagOnFailoverBytes,
		},
	}
}

// Unsaid is what Patroni runs with, by its own names, where its store says nothing: its own values, with which commits wait for nobody.
func Unsaid(p topology.Params) map[string]string {
	keeper, ok := p.Server.(engine.Described)
	if !ok {
		return nil // Differs says so
	}
	p.Spec.Patroni, p.Spec.Type = nil, v1alpha1.TopologyAsync
	return keeper.Kept(Settings(p))
}

// CommitWaits is how many standbys a commit waits for while Patroni finds as many fit.
func CommitWaits(p topology.Params) int {
	s := spec(p)
	if s.SynchronousMode == string(engine.SyncOff) {
		return 0
	}
	return int(min(s.SynchronousNodeCount, p.Spec.Nodes-1))
}

// StandbysChosen tells that Patroni has commits wait for standbys by name. With a quorum any of all will do.
func StandbysChosen(p topology.Params) bool {
	return spec(p).SynchronousMode == string(engine.SyncOn)
}

// LossesWhileDegraded tells that writes which no standby was waited for are told apart: where Patroni may have commits wait, and stop to.
func LossesWhileDegraded(p topology.Params) bool { return p.Spec.Type == v1alpha1.TopologyPatroni }

// DegradedBy is what has no commit wait for a standby, "" where they do, or never could.
func DegradedBy(p topology.Params) string {
	if !LossesWhileDegraded(p) || CommitWaits(p) > 0 {
		return ""
	}
	return "topology.patroni.synchronousMode " + string(engine.SyncOff)
}

// promotable is how many standbys Patroni is to know of as fit before the load: those that it has commits wait for, which with a quorum are
// any of all.
func promotable(p topology.Params) int {
	if spec(p).SynchronousMode == string(engine.SyncQuorum) {
		return int(p.Spec.Nodes) - 1
	}
	return CommitWaits(p)
}
