package verdict

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
	"replab.dev/internal/provenance"
)

func TestAnAppThatBeganInTheMidstOfTheLoadIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		container provenance.Container
		startedAt int64 // milliseconds of the load; 0 is not known
		exitCode  *int32
		want      string
	}{
		"an app that was ended": {
			provenance.Container{Pod: "x-social-1", Component: kube.ComponentSocial, Name: "social"},
			30_000, ptr.To[int32](137),
			"Container social of pod x-social-1 began at 2026-01-01T12:00:30Z, in the midst of the load, by no fault of the experiment, after it had ended with exit code 137: ",
		},
		"a proxy in another's place": {
			provenance.Container{Pod: "x-proxy-2", Component: kube.ComponentProxy, Name: "haproxy"},
			1_000, nil,
			"began at 2026-01-01T12:00:01Z, in the midst of the load, by no fault of the experiment: what failed until then",
		},
		"an app from before the load":  {provenance.Container{Component: kube.ComponentSocial}, -5_000, nil, ""},
		"an app that began after it":   {provenance.Container{Component: kube.ComponentSocial}, 61_000, ptr.To[int32](0), ""},
		"an app that does not run":     {provenance.Container{Component: kube.ComponentSocial}, 0, nil, ""},
		"a server, which a fault hits": {provenance.Container{Component: kube.ComponentNode}, 30_000, ptr.To[int32](137), ""},
	} {
		t.Run(name, func(t *testing.T) {
			e := sound()
			if c.startedAt != 0 {
				c.container.StartedAt = &metav1.Time{Time: e.Witness.LoadStartedAt.Add(time.Duration(c.startedAt) * time.Millisecond)}
			}
			c.container.ExitCode = c.exitCode
			e.Provenance.Containers = []provenance.Container{c.container}
			s := v1alpha1.ReplicationExperimentStatus{}
			Judge(e, &s)
			said := strings.Join(s.Reasons, "\n")
			if s.Verdict != v1alpha1.VerdictPassed || c.want == "" && strings.Contains(said, "in the midst of the load") || !strings.Contains(said, c.want) {
				t.Errorf("%s: %s", s.Verdict, said)
			}
		})
	}
}
