package fault

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
	"replab.dev/internal/topology"
	"replab.dev/internal/wire"
)

// member is a node's pod whose server was started so long ago; 0: none of its containers was.
func member(name, ip string, started time.Duration) corev1.Pod {
	p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, UID: "uid", Labels: map[string]string{kube.LabelComponent: kube.ComponentNode}}}
	p.Status.PodIP = ip
	if started > 0 {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{
			StartedAt: metav1.NewTime(noon.Add(-started)),
		}}}}
	}
	return p
}

// asks takes down what agents are asked for.
type asks struct {
	*lab
	addresses []string
}

func (a *asks) Faults(ctx context.Context, token string, calls []Call) []Answer {
	for _, c := range calls {
		a.addresses = slices.Sorted(slices.Values(c.Addresses))
	}
	return a.lab.Faults(ctx, token, calls)
}

// TestAPodThatComesDuringAPartitionIsCutOffToo, and where it ran before that the fault is not what was planned.
func TestAPodThatComesDuringAPartitionIsCutOffToo(t *testing.T) {
	cut := func(widened ...wire.Widening) *wire.FaultRecord {
		return &wire.FaultRecord{FaultRequest: wire.FaultRequest{Addresses: []string{"10.0.0.2", "10.0.0.3"}}, InjectedAt: ago(5 * time.Second), Concluded: true, Widened: widened}
	}
	came := func(started time.Duration) []corev1.Pod {
		return []corev1.Pod{member("x-db-1", "10.0.0.2", time.Hour), member("x-db-2", "10.0.0.9", started)}
	}
	for _, c := range []struct {
		name   string
		record *wire.FaultRecord
		pods   []corev1.Pod
		hold   int64
		want   string // addresses that the agent is asked to cut off
		leak   bool
	}{
		{"nobody came", cut(), []corev1.Pod{member("x-db-1", "10.0.0.2", time.Hour), member("x-db-2", "10.0.0.3", time.Hour)}, 20, "", false},
		{"one came, and nothing of it runs", cut(), came(0), 20, "10.0.0.2 10.0.0.3 10.0.0.9", false},
		{"one came and runs", cut(), came(time.Second), 20, "10.0.0.2 10.0.0.3 10.0.0.9", true},
		{"it runs since it was cut off", func() *wire.FaultRecord {
			r := cut(wire.Widening{Address: "10.0.0.9", At: *ago(3 * time.Second)})
			r.Addresses = append(r.Addresses, "10.0.0.9")
			return r
		}(), came(2 * time.Second), 20, "", false},
		{"it ran before it was", func() *wire.FaultRecord {
			r := cut(wire.Widening{Address: "10.0.0.9", At: *ago(3 * time.Second)})
			r.Addresses = append(r.Addresses, "10.0.0.9")
			return r
		}(), came(4 * time.Second), 20, "", true},
		{
			"an instrument got the address of one that went", cut(), append(came(0), corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "x-recorder"}, Status: corev1.PodStatus{PodIP: "10.0.0.3"}}),
			20, "10.0.0.2 10.0.0.9", false,
		},
		{"to the end of the audit", cut(), came(0), -1, "10.0.0.2 10.0.0.3 10.0.0.9", false},
		{"the hold is over", cut(), came(time.Second), 5, "", false},
		{"its effect is still awaited", &wire.FaultRecord{InjectedAt: ago(time.Second)}, came(time.Second), 20, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLab()
			l.record = c.record
			a := &asks{lab: l}
			e := v1alpha1.FaultStatus{State: v1alpha1.FaultConfirmed, InjectedTime: ago(5 * time.Second)}
			s := l.scene(v1alpha1.Fault{Action: v1alpha1.ActionPartition, PartitionFrom: v1alpha1.PartitionPeers, HoldSeconds: c.hold}, e)
			s.Agents, s.Pods = a, append(s.Pods, c.pods...)
			out := Keep(t.Context(), s)
			if got := strings.Join(a.addresses, " "); got != c.want {
				t.Errorf("the agent is asked to cut off %q, want %q", got, c.want)
			}
			if got := (*s.Status)[0]; (got.Leak != "") != c.leak || got.State != v1alpha1.FaultConfirmed {
				t.Errorf("%s, leak %q", got.State, got.Leak)
			}
			if out.Done != (c.hold == 5) {
				t.Errorf("came to %+v", out)
			}
		})
	}
}

// TestAPartitionByZoneCutsOffTheWholeZone from all nodes outside of it, and from nobody else.
func TestAPartitionByZoneCutsOffTheWholeZone(t *testing.T) {
	for _, c := range []struct {
		name  string
		zones []v1alpha1.Zone
		want  map[string]string // by pod
	}{
		{"the primary is not alone", []v1alpha1.Zone{{Name: "eu", Nodes: []int32{0, 2}}, {Name: "us", Nodes: []int32{1, 3}}}, map[string]string{"x-db-0": "10.0.0.2 10.0.0.4", "x-db-2": "10.0.0.2 10.0.0.4"}},
		{"it is", []v1alpha1.Zone{{Name: "eu", Nodes: []int32{0}}, {Name: "us", Nodes: []int32{1, 2, 3}}}, map[string]string{"x-db-0": "10.0.0.2 10.0.0.3 10.0.0.4"}},
		{"it is in no zone", []v1alpha1.Zone{{Name: "us", Nodes: []int32{1, 2, 3}}}, map[string]string{"x-db-0": "10.0.0.2 10.0.0.3 10.0.0.4"}},
		{"others are in none", []v1alpha1.Zone{{Name: "eu", Nodes: []int32{0, 1}}}, map[string]string{"x-db-0": "10.0.0.3 10.0.0.4", "x-db-1": "10.0.0.3 10.0.0.4"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLab()
			l.state.Nodes = append(l.state.Nodes, topology.NodeState{Name: "x-db-2", Role: topology.Reader}, topology.NodeState{Name: "x-db-3", Role: topology.Down})
			f := v1alpha1.Fault{Name: "apart", Target: v1alpha1.TargetPrimary, Action: v1alpha1.ActionPartition, PartitionFrom: v1alpha1.PartitionZone, HoldSeconds: 5}
			s := l.scene(f, v1alpha1.FaultStatus{})
			s.Spec, *s.Status, s.Zones = []v1alpha1.Fault{f}, nil, c.zones
			s.Pods = nil
			for i, ip := range []string{"10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"} {
				s.Pods = append(s.Pods, member("x-db-"+string(rune('0'+i)), ip, time.Hour))
			}
			app := member("x-social", "10.0.0.5", time.Hour)
			app.Labels[kube.LabelComponent] = kube.ComponentSocial
			s.Pods = append(s.Pods, app)
			calls := &allCalls{lab: l, addresses: map[string]string{}}
			s.Agents = calls
			for range 2 { // aim, then act
				if out, err := Inject(t.Context(), s, noon, false); err != nil || out.Terminal {
					t.Fatal(out, err)
				}
				if len(*s.Status) > 0 && (*s.Status)[0].PlannedTime.IsZero() {
					t.Fatal("no planned time")
				}
				for i := range *s.Status {
					(*s.Status)[i].PlannedTime = *ago(time.Second)
				}
				s.Spec[0].AtSeconds = 0
			}
			if len(calls.addresses) != len(c.want) {
				t.Errorf("hit are %v, want %v", calls.addresses, c.want)
			}
			for pod, want := range c.want {
				ip := s.named(pod).Status.PodIP
				if calls.addresses[ip] != want {
					t.Errorf("%s is cut off from %q, want %q", pod, calls.addresses[ip], want)
				}
			}
		})
	}
}

// allCalls takes down what each agent is asked for.
type allCalls struct {
	*lab
	addresses map[string]string
}

func (a *allCalls) Faults(ctx context.Context, token string, calls []Call) []Answer {
	for _, c := range calls {
		a.addresses[c.PodIP] = strings.Join(slices.Sorted(slices.Values(c.Addresses)), " ")
	}
	return a.lab.Faults(ctx, token, calls)
}

// TestANodeIsNotCutOffTwiceFromTheSame: a partition that an earlier one, or one of the same moment, leaves nothing to do to is not injected.
func TestANodeIsNotCutOffTwiceFromTheSame(t *testing.T) {
	const zone, peers, clients = v1alpha1.PartitionZone, v1alpha1.PartitionPeers, v1alpha1.PartitionClients
	const store, everyone = v1alpha1.PartitionStore, v1alpha1.PartitionEveryone
	for _, c := range []struct {
		name          string
		first, second v1alpha1.PartitionFrom
		state         v1alpha1.FaultState // of the first
		began         time.Duration       // so long ago; it is to hold for 10 s
		want          bool
	}{
		{"the same zone again", zone, zone, v1alpha1.FaultConfirmed, 2 * time.Second, false},
		{"in the same moment", zone, zone, v1alpha1.FaultPlanned, 0, false},
		{"once the first has ended", zone, zone, v1alpha1.FaultConfirmed, 11 * time.Second, true},
		{"a zone, of all of whose others it is cut off", peers, zone, v1alpha1.FaultConfirmed, 2 * time.Second, false},
		{"those of its own zone too", zone, peers, v1alpha1.FaultConfirmed, 2 * time.Second, true},
		{"from others", clients, zone, v1alpha1.FaultConfirmed, 2 * time.Second, true},
		{"from the store again", store, store, v1alpha1.FaultConfirmed, 2 * time.Second, false},
		{"from the store, of which everyone is", everyone, store, v1alpha1.FaultConfirmed, 2 * time.Second, false},
		{"from the store too", peers, store, v1alpha1.FaultConfirmed, 2 * time.Second, true},
		{"from everyone, and not from the store alone", store, everyone, v1alpha1.FaultConfirmed, 2 * time.Second, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLab()
			cut := func(name string, from v1alpha1.PartitionFrom) v1alpha1.Fault {
				return v1alpha1.Fault{Name: name, Target: v1alpha1.TargetNode, Node: ptr.To[int32](0), Action: v1alpha1.ActionPartition, PartitionFrom: from, HoldSeconds: 10}
			}
			s := l.scene(v1alpha1.Fault{}, v1alpha1.FaultStatus{})
			s.Zones, s.Store = []v1alpha1.Zone{{Name: "eu", Nodes: []int32{0, 1}}, {Name: "us", Nodes: []int32{2}}}, true
			s.Spec = []v1alpha1.Fault{cut("first", c.first), cut("second", c.second)}
			s.Pods = []corev1.Pod{member("x-db-0", "10.0.0.1", time.Hour), member("x-db-1", "10.0.0.2", time.Hour), member("x-db-2", "10.0.0.3", time.Hour)}
			app := member("x-social", "10.0.0.5", time.Hour)
			app.Labels[kube.LabelComponent] = kube.ComponentSocial
			s.Pods = append(s.Pods, app)
			entry := func(name string, state v1alpha1.FaultState) v1alpha1.FaultStatus {
				return v1alpha1.FaultStatus{Name: name, Fault: name, Pod: "x-db-0", PodUID: "uid", State: state, PlannedTime: *ago(0)}
			}
			*s.Status = []v1alpha1.FaultStatus{entry("first", c.state), entry("second", v1alpha1.FaultPlanned)}
			if c.state == v1alpha1.FaultConfirmed {
				(*s.Status)[0].InjectedTime = ago(c.began)
			}
			if _, err := Inject(t.Context(), s, noon, false); err != nil {
				t.Fatal(err)
			}
			got := (*s.Status)[1]
			if asked := slices.Contains(l.asked, "second"); asked != c.want || !c.want && (got.State != v1alpha1.FaultUnconfirmed || !strings.Contains(got.Evidence, "fault first already cut the node off from everything")) {
				t.Errorf("asked for %v, and %s: %q", l.asked, got.State, got.Evidence)
			}
		})
	}
}

// TestFaultsOfOneMomentWaitForEachOthersTargets: where one has none yet, none is injected.
func TestFaultsOfOneMomentWaitForEachOthersTargets(t *testing.T) {
	l := newLab()
	s := l.scene(v1alpha1.Fault{Target: v1alpha1.TargetNode, Action: v1alpha1.ActionKill}, v1alpha1.FaultStatus{State: v1alpha1.FaultPlanned})
	zero := int32(0)
	s.Spec[0].Node = &zero
	s.Spec = append(s.Spec, v1alpha1.Fault{Name: "others", Target: v1alpha1.TargetAllReplicas, Action: v1alpha1.ActionKill})
	l.state.Nodes[1].Role = topology.Down // nobody is a replica for a moment
	for range 2 {
		if out, err := Inject(t.Context(), s, noon, false); err != nil || out.Done || out.Terminal || len(l.asked) != 0 {
			t.Fatalf("%+v, %v: asked for %v", out, err, l.asked)
		}
	}
	l.state.Nodes[1].Role = topology.Reader
	s.Pods = append(s.Pods, member("x-db-1", "10.0.0.2", time.Hour))
	for range 2 { // aim, then act
		if _, err := Inject(t.Context(), s, noon, false); err != nil {
			t.Fatal(err)
		}
	}
	if got := slices.Sorted(slices.Values(l.asked)); !slices.Equal(got, []string{"crash", "others"}) {
		t.Errorf("asked for %v", got)
	}
}
