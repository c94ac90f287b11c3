package plan

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
)

const (
	// gcPercent is four times Go's default, so garbage is collected about a quarter as often.
	gcPercent = 400
	// heapPercent of a container's memory is for Go: the rest is for what Go does not count, such as buffers of the kernel.
	heapPercent = 90
)

// collectSeldom has replab's containers and k6's collect garbage less often, as long as they are within their memory. Where the experiment sets
// the variables itself, its values stay.
func (b *builder) collectSeldom(pod *corev1.PodTemplateSpec) {
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			c := &containers[i]
			limit := c.Resources.Limits.Memory().Value()
			if c.Image != b.Images.Replab && c.Image != b.Images.K6 || limit == 0 {
				continue
			}
			c.Env = withDefault(c.Env, "GOGC", gcPercent)
			c.Env = withDefault(c.Env, "GOMEMLIMIT", limit/100*heapPercent)
		}
	}
}

func withDefault(env []corev1.EnvVar, name string, value int64) []corev1.EnvVar {
	if slices.ContainsFunc(env, func(v corev1.EnvVar) bool { return v.Name == name }) {
		return env
	}
	return append(env, corev1.EnvVar{Name: name, Value: strconv.FormatInt(value, 10)})
}
