package figures

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
)

const contradicted = "contradicted by the closed loop"

// doubt tells of a latency where the closed loop of its stage contradicts it; of that of the whole load, where that of a stage that counts does.
func (d *Document) doubt(path string) string {
	if d.Status.Load == nil || !strings.Contains(path, "atency.") {
		return ""
	}
	for _, s := range d.Status.Load.Stages {
		if s.ClosedLoopHolds != metav1.ConditionFalse {
			continue
		}
		counts := !slices.ContainsFunc(d.Spec.Load.Stages, func(asked v1alpha1.Stage) bool { return asked.Name == s.Name && asked.Discard })
		if counts && (under("status.load.latency")(path, "") || under("recorder.load")(path, "")) || d.stageOf(path) == s.Name {
			return contradicted
		}
	}
	return ""
}

// stageOf is the name of the stage that a figure is of, "" of none.
func (d *Document) stageOf(path string) string {
	for _, list := range []string{"status.load.stages", "recorder.stages"} {
		if rest, ok := strings.CutPrefix(path, list+"["); ok {
			item, _, _ := strings.Cut(rest, "]")
			object, _ := d.at(list + "[" + item + "]").(map[string]any)
			name, _ := object["name"].(string)
			return name
		}
	}
	return ""
}
