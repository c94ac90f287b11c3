package provenance

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"replab.dev/internal/kube"
)

// Altered says which pods are not as planned: by the label that Services and network policies select by, and by the images of containers.
// planned has the pods' templates by the names of the objects that make them, others are names of objects whose pods have no template. A pod of
// neither is told of if Services would select it. An admission webhook may rewrite an image, as long as it does so for all containers that were
// planned with it.
func Altered(planned map[string]*corev1.PodTemplateSpec, others []string, pods []corev1.Pod) []string {
	sorted := slices.SortedFunc(slices.Values(pods), func(a, b corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	first := map[string]seen{}
	var found []string
	for i := range sorted {
		template := templateOf(planned, sorted[i].Name)
		if template == nil {
			if name := sorted[i].Name; sorted[i].Labels[kube.LabelComponent] != "" && !madeBy(others, name) {
				found = append(found, fmt.Sprintf("Pod %s has the experiment's labels and was not made for it.", name))
			}
			continue
		}
		want, got := template.Labels[kube.LabelComponent], sorted[i].Labels[kube.LabelComponent]
		if want != got {
			found = append(found, fmt.Sprintf("Label %s of pod %s is %q, not %q as planned.", kube.LabelComponent, sorted[i].Name, got, want))
		}
		found = append(found, alteredImages(template, &sorted[i], first)...)
	}
	return found
}

// seen is the image of a container.
type seen struct{ image, container, pod string }

// alteredImages compares a pod's containers with those, of any pod, that were first seen with the same planned image.
func alteredImages(template *corev1.PodTemplateSpec, pod *corev1.Pod, first map[string]seen) []string {
	images := map[string]string{}
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		images[c.Name] = c.Image
	}
	var found []string
	for _, c := range slices.Concat(template.Spec.InitContainers, template.Spec.Containers) {
		image, there := images[c.Name]
		if !there {
			continue
		}
		f, known := first[c.Image]
		if !known {
			first[c.Image] = seen{image, c.Name, pod.Name}
			continue
		}
		if f.image != image {
			found = append(found, fmt.Sprintf("Image %s is %s in container %s of pod %s, and %s in container %s of pod %s.",
				c.Image, f.image, f.container, f.pod, image, c.Name, pod.Name))
		}
	}
	return found
}

// madeBy tells whether a pod has the name of one of these objects, or one that begins with it.
func madeBy(objects []string, pod string) bool {
	return slices.ContainsFunc(objects, func(o string) bool { return pod == o || strings.HasPrefix(pod, o+"-") })
}

// podSuffix is what a StatefulSet, a Deployment or a Job adds to its name: experiment x-db has a pod x-db-db-0, which is none of x-db.
var podSuffix = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]{5})?$`)

// templateOf the pod of that name: the one whose object's name is the longest that it begins with.
func templateOf(planned map[string]*corev1.PodTemplateSpec, pod string) *corev1.PodTemplateSpec {
	var template *corev1.PodTemplateSpec
	longest := 0
	for name, t := range planned {
		if suffix, ok := strings.CutPrefix(pod, name+"-"); ok && len(name) > longest && podSuffix.MatchString(suffix) {
			longest, template = len(name), t
		}
	}
	return template
}
