package provenance

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/kube"
)

func TestAltered(t *testing.T) {
	template := func(component string, images ...string) *corev1.PodTemplateSpec {
		p := &corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{kube.LabelComponent: component}}}
		p.Spec.InitContainers = []corev1.Container{{Name: "copy", Image: images[0]}}
		for i, image := range images[1:] {
			p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: string(rune('a' + i)), Image: image})
		}
		return p
	}
	planned := map[string]*corev1.PodTemplateSpec{
		"x-db": template(kube.ComponentNode, "replab:1", "mysql:9"), "x-recorder": template(kube.ComponentRecorder, "replab:1", "replab:1"),
		"x": template("other", "other:1"),
	}
	for name, c := range map[string]struct {
		change func(pods []corev1.Pod)
		says   string // "" for nothing
	}{
		"as planned": {func([]corev1.Pod) {}, ""},
		"a label that leads the recorder's clients to a node": {func(p []corev1.Pod) {
			p[0].Labels = map[string]string{kube.LabelComponent: kube.ComponentRecorder}
		}, `Label app.kubernetes.io/component of pod x-db-0 is "recorder", not "node" as planned.`},
		"a label of a role, which managers keep": {func(p []corev1.Pod) {
			p[0].Labels = map[string]string{kube.LabelComponent: kube.ComponentNode, "replab.dev/role": "Writer"}
		}, ""},
		"another image for the init container": {
			func(p []corev1.Pod) { p[1].Spec.InitContainers[0].Image = "evil:1" },
			"Image replab:1 is replab:1 in container copy of pod x-db-0, and evil:1 in container copy of pod x-db-1.",
		},
		"another image in each node": {func(p []corev1.Pod) {
			p[0].Spec.InitContainers[0].Image, p[1].Spec.InitContainers[0].Image = "evil:1", "evil:1"
		}, "Image replab:1 is evil:1 in container copy of pod x-db-0, and replab:1 in container copy of pod x-recorder-5d8f-x2k9p."},
		"images that a webhook rewrites everywhere": {func(p []corev1.Pod) {
			for i := range p {
				for _, cs := range [][]corev1.Container{p[i].Spec.InitContainers, p[i].Spec.Containers} {
					for j := range cs {
						cs[j].Image = "mirror.example/" + cs[j].Image
					}
				}
			}
		}, ""},
		"a container that a webhook adds": {func(p []corev1.Pod) {
			p[0].Spec.Containers = append(p[0].Spec.Containers, corev1.Container{Name: "mesh", Image: "mesh:1"})
		}, ""},
		"a pod that nobody planned":   {func(p []corev1.Pod) { p[0].Name, p[0].Labels = "y-db-0", nil }, ""},
		"a pod of another experiment": {func(p []corev1.Pod) { p[0].Name = "y-db-0" }, "Pod y-db-0 has the experiment's labels and was not made for it."},
		"a pod of experiment x-db":    {func(p []corev1.Pod) { p[0].Name = "x-db-db-0" }, "Pod x-db-db-0 has the experiment's labels"},
		"a pod of another operator":   {func(p []corev1.Pod) { p[0].Name = "x-load-1-abcde" }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var pods []corev1.Pod
			for _, made := range [][2]string{{"x-db-0", "x-db"}, {"x-db-1", "x-db"}, {"x-recorder-5d8f-x2k9p", "x-recorder"}} {
				own := planned[made[1]].DeepCopy()
				own.Name = made[0]
				pods = append(pods, corev1.Pod{ObjectMeta: own.ObjectMeta, Spec: own.Spec})
			}
			c.change(pods)
			got := strings.Join(Altered(planned, []string{"x-load"}, pods), " ")
			if c.says == "" && got != "" || !strings.Contains(got, c.says) {
				t.Errorf("%q, want %q", got, c.says)
			}
		})
	}
}
