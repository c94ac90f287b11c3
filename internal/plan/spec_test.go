package plan

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/test/experiment"
)

func TestTheUsersScriptHasItsVariablesBesideReplabs(t *testing.T) {
	x := experiment.Load(t, "single")
	x.Spec.Load.Script = &v1alpha1.ScriptSource{
		ConfigMapKeyRef: v1alpha1.ScriptKey{Name: "scripts", Key: "load.js"},
		Env: []v1alpha1.ScriptVariable{
			{Name: "PLAIN", Value: "x"},
			{Name: "TOKEN", ValueFrom: &v1alpha1.ScriptVariableSource{SecretKeyRef: &v1alpha1.KeyRef{Name: "tokens", Key: "t"}}},
			{Name: "MODE", ValueFrom: &v1alpha1.ScriptVariableSource{ConfigMapKeyRef: &v1alpha1.KeyRef{Name: "settings", Key: "m"}}},
		},
	}
	pod := template(build(t, x).Load[0]).Spec
	named := func(name string) corev1.LocalObjectReference { return corev1.LocalObjectReference{Name: name} }
	want := []corev1.EnvVar{
		{Name: "PLAIN", Value: "x"},
		{Name: "TOKEN", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: named("tokens"), Key: "t"}}},
		{Name: "MODE", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: named("settings"), Key: "m"}}},
	}
	env := pod.Containers[0].Env
	first := slices.IndexFunc(env, func(v corev1.EnvVar) bool { return v.Name == "PLAIN" })
	if diff := cmp.Diff(want, env[max(first, 0):][:3]); diff != "" || env[0].Name != "REPLAB_URL" {
		t.Errorf("the first variable is %s, the script's are (-want +got):\n%s", env[0].Name, diff)
	}
	mounted := func(v corev1.Volume) bool { return v.ConfigMap != nil && v.ConfigMap.Name == "scripts" }
	if !slices.ContainsFunc(pod.Volumes, mounted) {
		t.Errorf("ConfigMap scripts is not mounted: %+v", pod.Volumes)
	}
}

// TestAnAppOfTheUsersOwn runs its own command, is told of its configuration, and has no more rights than the built-in one.
func TestAnAppOfTheUsersOwn(t *testing.T) {
	app := func(image v1alpha1.ImageName) corev1.PodSpec {
		x := experiment.Load(t, "single")
		x.Spec.App.Image = image
		for _, o := range build(t, x).Deploy {
			if d, ok := o.(*appsv1.Deployment); ok && d.Name == "single-social" {
				return d.Spec.Template.Spec
			}
		}
		t.Fatal("there is no app")
		return corev1.PodSpec{}
	}
	builtIn, own := app(""), app("example.com/app:1")
	c := own.Containers[0]
	if c.Image != "example.com/app:1" || c.Command != nil || c.Args != nil {
		t.Errorf("runs %s with %q %q, want the image's own command", c.Image, c.Command, c.Args)
	}
	if c.Env[0].Name != "REPLAB_CONFIG" || c.Env[0].Value != "/etc/replab/social.json" {
		t.Errorf("its variables are %+v", c.Env)
	}
	if diff := cmp.Diff(builtIn.Containers[0].SecurityContext, c.SecurityContext); diff != "" {
		t.Errorf("its rights differ (-built-in +own):\n%s", diff)
	}
	if diff := cmp.Diff(builtIn.Volumes, own.Volumes[:len(builtIn.Volumes)]); diff != "" || len(own.Volumes) != len(builtIn.Volumes)+1 {
		t.Errorf("it sees more than /tmp besides (-built-in +own):\n%s", diff)
	}
	if builtIn.Containers[0].Image == c.Image || builtIn.Containers[0].Args == nil {
		t.Errorf("the built-in app is %+v", builtIn.Containers[0])
	}
}

func TestTheProxyChecksAsTheSpecSays(t *testing.T) {
	x := experiment.Load(t, "semisync")
	if text := files(t, x)["haproxy.cfg"]; strings.Count(text, "inter 250ms fastinter 250ms fall 2 rise 1 ") != 2 {
		t.Errorf("by default the proxy's configuration is\n%s", text)
	}
	x.Spec.Routing.Check = v1alpha1.RoutingCheck{IntervalMilliseconds: 1000, Fall: 5, Rise: 3}
	if text := files(t, x)["haproxy.cfg"]; strings.Count(text, "inter 1000ms fastinter 1000ms fall 5 rise 3 ") != 2 {
		t.Errorf("the proxy's configuration is\n%s", text)
	}
}

// TestTheProxyWaitsForTheFarthestNode, wherever the app lives with it.
func TestTheProxyWaitsForTheFarthestNode(t *testing.T) {
	x := experiment.Load(t, "semisync-distance") // 20 ms
	for zone, want := range map[string]string{"": "timeout connect 2s", "here": "timeout connect 2020ms", "there": "timeout connect 2020ms"} {
		x.Spec.App.Zone = zone
		if text := files(t, x)["haproxy.cfg"]; !strings.Contains(text, want+"\n") {
			t.Errorf("with the app in zone %q there is no %s in\n%s", zone, want, text)
		}
	}
}

func TestProxySQLAsksForWhatTheTopologysServersShow(t *testing.T) {
	for name, want := range map[string]string{"semisync": "mysql_replication_hostgroups:", "mariadb-async": "mysql_replication_hostgroups:", "galera": "mysql_galera_hostgroups:"} {
		x := experiment.Load(t, name)
		x.Spec.Routing.Proxy = v1alpha1.ProxyProxySQL
		if text := files(t, x)["proxysql.cnf"]; !strings.Contains(text, want) || strings.Count(text, "_hostgroups:") != 1 {
			t.Errorf("%s: want %s in\n%s", name, want, text)
		}
	}
}

// files of the experiment's ConfigMap.
func files(t *testing.T, x *v1alpha1.ReplicationExperiment) map[string]string {
	t.Helper()
	for _, o := range build(t, x).Deploy {
		if m, ok := o.(*corev1.ConfigMap); ok && strings.HasSuffix(m.Name, "-files") {
			return m.Data
		}
	}
	t.Fatal("there is no ConfigMap with the files")
	return nil
}

func TestUsersComeAtTheStagesRate(t *testing.T) {
	x := experiment.Load(t, "single")
	x.Spec.Load.Stages = []v1alpha1.Stage{{Name: "steady", DurationSeconds: 60, Users: new(int64(50)), SpawnPerSecond: 10}}
	env := template(build(t, x).Load[0]).Spec.Containers[0].Env
	if !slices.ContainsFunc(env, func(v corev1.EnvVar) bool { return strings.Contains(v.Value, `"users":50,"spawnPerSecond":10`) }) {
		t.Errorf("k6 is not told of the rate: %+v", env)
	}
}
