package validation

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"replab.dev/api/v1alpha1"
)

// pods: labels by which replab finds its pods, and what the restricted pod security standard forbids.
func pods(s *spec) {
	if s.Pods == nil {
		return
	}
	for _, part := range []struct {
		name string
		*v1alpha1.PodSettings
	}{{"all", s.Pods.All}, {"nodes", s.Pods.Nodes}, {"instruments", s.Pods.Instruments}} {
		if part.PodSettings == nil {
			continue
		}
		path := at("pods." + part.name)
		for _, key := range slices.Sorted(maps.Keys(part.Labels)) {
			own := slices.Contains([]string{"app.kubernetes.io/managed-by", "app.kubernetes.io/component"}, key) || strings.HasPrefix(key, "replab.dev/")
			s.refuse(own, path.Child("labels").Key(key), "replab finds its pods by this label. Use another key.")
		}
		if part.SecurityContext != nil {
			restricted(s, path.Child("securityContext"), *part.SecurityContext)
			users(s, path.Child("securityContext"), *part.SecurityContext)
		}
		placement(s, path, *part.PodSettings)
	}
}

// containerTypes are the SELinux types that the restricted standard allows.
var containerTypes = []string{"", "container_t", "container_init_t", "container_kvm_t", "container_engine_t"}

func restricted(s *spec, path *field.Path, c corev1.PodSecurityContext) {
	refuse := func(wrong bool, name string) {
		s.refuse(wrong, path.Child(name), fmt.Sprintf("this leaves the restricted pod security standard. Remove %s.", name))
	}
	refuse(c.RunAsNonRoot != nil && !*c.RunAsNonRoot, "runAsNonRoot")
	refuse(c.RunAsUser != nil && *c.RunAsUser <= 0, "runAsUser")
	refuse(c.SeccompProfile != nil && c.SeccompProfile.Type == corev1.SeccompProfileTypeUnconfined, "seccompProfile")
	refuse(c.AppArmorProfile != nil && c.AppArmorProfile.Type == corev1.AppArmorProfileTypeUnconfined, "appArmorProfile")
	refuse(len(c.Sysctls) > 0, "sysctls")
	refuse(c.WindowsOptions != nil, "windowsOptions")
	linux := c.SELinuxOptions
	refuse(linux != nil && (linux.User != "" || linux.Role != "" || !slices.Contains(containerTypes, linux.Type)), "seLinuxOptions")
}
