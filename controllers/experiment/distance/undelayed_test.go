package distance

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
)

// replaced puts another pod in the place of the last node's, of a number that no other has.
func (l *lab) replaced(number string) *corev1.Pod {
	p := &l.Pods[2]
	ip := "10.0.2." + number
	p.UID, p.Status.PodIP, l.sessions[ip] = types.UID("uid-"+number), ip, number
	p.Status.ContainerStatuses, p.Status.StartTime = nil, nil
	return p
}

// before is a time by the clock of the agents' machines.
func (l *lab) before(d time.Duration) metav1.Time { return metav1.NewTime(l.now.Add(l.ahead - d)) }

func (l *lab) runs(since time.Duration) corev1.ContainerState {
	return corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: l.before(since)}}
}

// undelayed is for how long a pod in the last node's place was at no distance.
func (l *lab) undelayed(t *testing.T) time.Duration {
	t.Helper()
	d := *l.Status
	if d.UndelayedSinceTime != nil {
		t.Errorf("all links stand, and a pod is undelayed since %s", d.UndelayedSinceTime)
	}
	return time.Duration(d.UndelayedMilliseconds) * time.Millisecond
}

// TestForHowLongAPodThatCameWasAtNoDistance: since its first container began, until all links to and from it stand. 1 ms passes until its
// agent answers; its clock is another.
func TestForHowLongAPodThatCameWasAtNoDistance(t *testing.T) {
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		pod        func(*lab, *corev1.Pod)
		away       string        // an agent that does not answer
		tillAnswer time.Duration // for how long
		want       time.Duration
	}{
		"it has run for 3 s": {pod: func(l *lab, p *corev1.Pod) {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{State: l.runs(2 * time.Second)}, {State: l.runs(3 * time.Second)}}
		}, want: 3001 * ms},
		"it had run before": {pod: func(l *lab, p *corev1.Pod) {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{State: l.runs(time.Second), LastTerminationState: corev1.ContainerState{
				Terminated: &corev1.ContainerStateTerminated{StartedAt: l.before(4 * time.Second)},
			}}}
		}, want: 4001 * ms},
		"no container of it is told to run": {pod: func(l *lab, p *corev1.Pod) {
			at := l.before(2 * time.Second)
			p.Status.StartTime = &at
		}, want: 2001 * ms},
		"nothing is told of it: it may have come when the links were last set": {pod: func(*lab, *corev1.Pod) {}, want: 20 * time.Second},
		"its own agent answers later": {pod: func(l *lab, p *corev1.Pod) {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{State: l.runs(time.Second)}}
		}, away: "10.0.2.2", tillAnswer: 6 * time.Second, want: 7001 * ms},
		"a peer's agent answers later": {pod: func(l *lab, p *corev1.Pod) {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{State: l.runs(time.Second)}}
		}, away: "10.0.0.1", tillAnswer: 6 * time.Second, want: 7001 * ms},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab()
			l.ahead, l.Loaded = time.Hour, true
			must(t, Set(t.Context(), l.Scene))
			l.now = l.now.Add(20 * time.Second)
			c.pod(l, l.replaced("2"))
			if l.failing = c.away; c.away != "" {
				if err := Set(t.Context(), l.Scene); err == nil {
					t.Error("an agent that does not answer is no error")
				}
				l.restart(t)
				l.failing, l.now = "", l.now.Add(c.tillAnswer)
			}
			must(t, Set(t.Context(), l.Scene))
			if got := l.undelayed(t); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			l.now = l.now.Add(time.Minute)
			must(t, Set(t.Context(), l.Scene))
			if got := l.undelayed(t); got != c.want {
				t.Errorf("a minute later %s, want %s", got, c.want)
			}
		})
	}
}

// TestOfSeveralPodsThatCameTheLongestCounts, also where one is replaced before all of its links stand.
func TestOfSeveralPodsThatCameTheLongestCounts(t *testing.T) {
	l := newLab()
	l.Loaded = true
	must(t, Set(t.Context(), l.Scene))
	next := func(ran time.Duration, number, away string) error {
		l.replaced(number).Status.ContainerStatuses = []corev1.ContainerStatus{{State: l.runs(ran)}}
		l.failing = away
		return Set(t.Context(), l.Scene)
	}
	must(t, next(2*time.Second, "2", ""))
	must(t, next(time.Second, "3", ""))
	if got := l.undelayed(t); got != 2001*time.Millisecond {
		t.Errorf("%s, want that of the first", got)
	}
	if err := next(time.Second, "4", "10.0.0.0"); err == nil {
		t.Error("an agent that does not answer is no error")
	}
	l.now = l.now.Add(8 * time.Second)
	must(t, next(time.Second, "5", ""))
	if got := l.undelayed(t); got != 9001*time.Millisecond {
		t.Errorf("%s, want that of the one whose links were never all set", got)
	}
}

// TestWhereNoLoadIsDisturbedNothingIsMissing.
func TestWhereNoLoadIsDisturbedNothingIsMissing(t *testing.T) {
	for name, change := range map[string]func(*lab){
		"before the load":  func(l *lab) { l.Loaded = false },
		"without distance": func(l *lab) { l.WithoutDistance = true },
	} {
		l := newLab()
		l.Loaded = true
		change(l)
		must(t, Set(t.Context(), l.Scene))
		l.replaced("2")
		l.Pods[3].Status.PodIP = "10.0.1.9" // of the app
		must(t, Set(t.Context(), l.Scene))
		if got := l.undelayed(t); got != 0 || l.clientCame() {
			t.Errorf("%s: %s, %+v", name, got, (*l.Status).Nodes[0])
		}
	}
}

// clientCame reports whether the nodes with links to the app have the problem that one of its pods was replaced.
func (l *lab) clientCame() bool {
	n := (*l.Status).Nodes
	return n[0].Problem == v1alpha1.LinkNotKept && strings.Contains(n[0].Note, "the app or its proxy") && n[1].Note == n[0].Note && n[2].Problem == ""
}

func TestAnAppThatCameIntoAnothersPlaceIsNoticed(t *testing.T) {
	l := newLab()
	must(t, Set(t.Context(), l.Scene))
	l.Loaded = true
	must(t, Set(t.Context(), l.Scene))
	l.replaced("2").Status.ContainerStatuses = []corev1.ContainerStatus{{State: l.runs(0)}}
	must(t, Set(t.Context(), l.Scene))
	if l.clientCame() {
		t.Error("the app is the same, and is a problem")
	}
	l.Pods[3].Status.PodIP = "10.0.1.9"
	must(t, Set(t.Context(), l.Scene))
	must(t, Set(t.Context(), l.Scene))
	if !l.clientCame() {
		t.Errorf("%+v, want a problem of the nodes with a link to the app", (*l.Status).Nodes)
	}
}

// TestPodsOfTheAppThatComeAreNoticed, not those that go: while one is exchanged for another both may be there, or neither.
func TestPodsOfTheAppThatComeAreNoticed(t *testing.T) {
	const a, b, c = "10.0.3.1", "10.0.3.2", "10.0.3.3"
	for name, c := range map[string]struct {
		looks [][]string // the addresses that are there; the first is before the load
		want  bool
	}{
		"one comes before the other goes": {[][]string{{a}, {a, b}, {b}}, true},
		"one comes after the other went":  {[][]string{{a}, {}, {b}}, true},
		"one goes":                        {[][]string{{a, b}, {a}}, false},
		"all go":                          {[][]string{{a, b}, {}}, false},
		"several at once":                 {[][]string{{a}, {b, c}}, true},
		"one comes back":                  {[][]string{{a, b}, {a}, {a, b}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab()
			nodes := l.Pods[:3:3]
			for _, addresses := range c.looks {
				l.Pods = nodes
				for _, ip := range addresses {
					l.Pods = append(l.Pods, pod("x-social-"+ip, kube.ComponentSocial, ip))
				}
				must(t, Set(t.Context(), l.Scene))
				l.restart(t)
				l.Loaded = true
			}
			if got := l.clientCame(); got != c.want {
				t.Errorf("%t, want %t: %+v", got, c.want, (*l.Status).Nodes)
			}
		})
	}
}
