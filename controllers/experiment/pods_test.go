package experiment

import (
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
)

func TestTrouble(t *testing.T) {
	for _, c := range []struct {
		name   string
		scene  scene
		reason string // empty: none
		text   string
	}{
		{
			"a claim that nobody makes a volume for",
			scene{claims: []corev1.PersistentVolumeClaim{pendingClaim(91 * time.Second)}, event: provisioning},
			v1alpha1.ReasonVolumeNotBound, "data-x-db-0 (2Gi of class silent) is not bound: ExternalProvisioning: Waiting for a volume to be created by none.example",
		},
		{"a claim of which nothing is said", scene{claims: []corev1.PersistentVolumeClaim{pendingClaim(91 * time.Second)}}, v1alpha1.ReasonVolumeNotBound, "nothing is said"},
		{"a claim that may yet be bound", scene{claims: []corev1.PersistentVolumeClaim{pendingClaim(80 * time.Second)}, event: provisioning}, "", ""},
		{"a pod that waits for its claim", scene{
			pods:   []corev1.Pod{pod("x-db-0", kube.ComponentNode, unschedulable("pod has unbound immediate PersistentVolumeClaims"))},
			claims: []corev1.PersistentVolumeClaim{pendingClaim(62 * time.Second)}, event: provisioning,
		}, v1alpha1.ReasonVolumeNotBound, "PersistentVolumeClaims; ExternalProvisioning: "},
		{
			"a pod that no node has room for",
			scene{pods: []corev1.Pod{pod("x-db-0", kube.ComponentNode, unschedulable("Insufficient cpu"))}},
			v1alpha1.ReasonPodUnschedulable, "Insufficient cpu",
		},
		{
			"a pod whose Secret is missing",
			scene{pods: []corev1.Pod{stuckPod}, event: noMount},
			v1alpha1.ReasonPodNotStarted, `x-db-0 could not be started on node worker for 1m40s: FailedMount: secret "x-credentials" not found`,
		},
		{"a pod whose image is being pulled", scene{pods: []corev1.Pod{stuckPod}, event: pulling}, "", ""},
		{"a pod that had failed before its image was pulled", scene{pods: []corev1.Pod{
			pod("x-db-0", kube.ComponentNode, is(corev1.PodScheduled, "True", time.Hour), is(corev1.PodReadyToStartContainers, "True", time.Hour), waits("ContainerCreating", 0)),
		}, event: noMount}, "", ""},
		{"a pod that was scheduled a moment ago", scene{pods: []corev1.Pod{
			pod("x-db-0", kube.ComponentNode, is(corev1.PodScheduled, "True", 90*time.Second), waits("ContainerCreating", 0)),
		}, event: noMount}, "", ""},
		{"a pod that no kubelet takes up", scene{pods: []corev1.Pod{
			pod("x-db-0", kube.ComponentNode, is(corev1.PodScheduled, "True", 101*time.Second), func(p *corev1.Pod) { p.Status.Phase = corev1.PodPending }),
		}}, v1alpha1.ReasonPodNotStarted, "is its kubelet running?"},
		{
			"a pod that was evicted",
			scene{pods: []corev1.Pod{pod("x-recorder", kube.ComponentRecorder, evicted)}},
			v1alpha1.ReasonPodFailed, "x-recorder has failed on node worker: Evicted: The node was low on resource: ephemeral-storage.",
		},
		{
			"a server that ends at once, again and again",
			scene{pods: []corev1.Pod{pod("x-db-0", kube.ComponentNode, aged(72*time.Second), waits("CrashLoopBackOff", 3))}},
			v1alpha1.ReasonCrashLoop, "the log of main in x-db-0",
		},
		{
			"a server that ends after a while, again and again",
			scene{pods: []corev1.Pod{pod("x-db-0", kube.ComponentNode, aged(95*time.Second), waits("CrashLoopBackOff", 2))}},
			v1alpha1.ReasonCrashLoop, "after 2 restarts",
		},
		{"a server that ended twice", scene{pods: []corev1.Pod{pod("x-db-0", kube.ComponentNode, aged(40*time.Second), waits("CrashLoopBackOff", 2))}}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err := diagnosePods(t.Context(), c.scene.run(t), true)
			expect(t, out, err, c.reason, c.text)
		})
	}
}

func expect(t *testing.T, out Outcome, err error, reason, text string) {
	t.Helper()
	if err != nil || out.Terminal != (reason != "") || out.Terminal && (out.Reason != reason || !strings.Contains(out.Message, text)) {
		t.Errorf("got %q: %q, %v; want %q with %q", out.Reason, out.Message, err, reason, text)
	}
}

func TestServersThatRunAndDoNotGetReady(t *testing.T) {
	node := func(since time.Duration) corev1.Pod {
		return pod("x-db-0", kube.ComponentNode, is(corev1.PodReady, "False", 20*time.Minute), runs(since))
	}
	app := pod("x-social", kube.ComponentSocial, is(corev1.PodReady, "False", 20*time.Minute), runs(5*time.Minute))
	for _, c := range []struct {
		name string
		pods []corev1.Pod
		text string // empty: nothing is wrong
	}{
		{"a server that has run for long", []corev1.Pod{node(241 * time.Second)}, "last log lines of container main of pod x-db-0:\nthe log of main in x-db-0"},
		{"a server that its disk may still keep busy", []corev1.Pod{node(3 * time.Minute)}, ""},
		{"a server that was ready until a moment ago", []corev1.Pod{pod("x-db-0", kube.ComponentNode, is(corev1.PodReady, "False", time.Second), runs(time.Hour))}, ""},
		{"the app, while it may wait for the server", []corev1.Pod{node(3 * time.Minute), app}, ""},
		{"the app, while the server's image is pulled", []corev1.Pod{pod("x-db-0", kube.ComponentNode, is(corev1.PodReady, "False", time.Hour), waits("ContainerCreating", 0)), app}, ""},
		{"the app alone", []corev1.Pod{readyPod("x-db-0", kube.ComponentNode), app}, "the log of main in x-social"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := scene{pods: c.pods}
			out, err := neverReady(t.Context(), s.run(t))
			reason := v1alpha1.ReasonTimeout
			if c.text == "" {
				reason = ""
			}
			expect(t, out, err, reason, c.text)
		})
	}
}

func TestARecorderThatDoesNotComeBackEndsTheLoad(t *testing.T) {
	for _, c := range []struct {
		name   string
		pods   []corev1.Pod
		reason string
		text   string
	}{
		{"it restarts", []corev1.Pod{pod("x-recorder", kube.ComponentRecorder, is(corev1.PodReady, "False", 30*time.Second), runs(2*time.Second))}, "", ""},
		{"its next pod is not made yet", nil, "", ""},
		{"it was evicted", []corev1.Pod{pod("x-recorder", kube.ComponentRecorder, evicted)}, v1alpha1.ReasonPodFailed, "ephemeral-storage"},
		{"its next pod finds no node", []corev1.Pod{pod("x-recorder", kube.ComponentRecorder, unschedulable("node had disk pressure"))}, v1alpha1.ReasonPodUnschedulable, "disk pressure"},
		{"it crashes", []corev1.Pod{pod("x-recorder", kube.ComponentRecorder, waits("CrashLoopBackOff", 3))}, v1alpha1.ReasonCrashLoop, "the log of main in x-recorder"},
		{
			"it runs and does not answer",
			[]corev1.Pod{pod("x-recorder", kube.ComponentRecorder, is(corev1.PodReady, "False", time.Hour), runs(91*time.Second))},
			v1alpha1.ReasonRecorderFailed, "the log of main in x-recorder",
		},
		{"what is wrong with a server is the fault's doing", []corev1.Pod{pod("x-db-0", kube.ComponentNode, waits("CrashLoopBackOff", 9))}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := scene{pods: c.pods, recorder: errors.New("connection refused")}
			_, out, err := watchLoad(t.Context(), s.run(t))
			expect(t, out, err, c.reason, c.text)
		})
	}
}

// TestARecorderWithoutSpaceEndsTheRun follows it to the end: no fault is injected any more, and nothing stays.
func TestARecorderWithoutSpaceEndsTheRun(t *testing.T) {
	var w *world
	got, _ := carryOut(t, semisync, func(x *world) { w, x.space = x, 5*time.Second })
	if got.Verdict != v1alpha1.VerdictInconclusive || !strings.Contains(got.Reason, "FaultsInjected: the recorder failed: no space left on device") || got.Kills != 0 {
		t.Errorf("the run came to %+v", got)
	}
	if !w.finished || len(w.objects) > 0 {
		t.Errorf("probes ended: %v; %d objects are left", w.finished, len(w.objects))
	}
}
