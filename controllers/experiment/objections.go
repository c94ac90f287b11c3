package experiment

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
)

// objections are what the API server said of the plan's objects. What it says of several of them is one objection.
type objections []objection

type objection struct {
	field, why string // field of the objects, "" where none was named
	objects    []client.Object
}

func (all *objections) add(obj client.Object, err error) {
	var answer apierrors.APIStatus
	if !errors.As(err, &answer) || answer.Status().Details == nil || len(answer.Status().Details.Causes) == 0 {
		*all = append(*all, objection{why: err.Error(), objects: []client.Object{obj}})
		return
	}
	for _, cause := range answer.Status().Details.Causes {
		same := func(r objection) bool { return r.field == cause.Field && r.why == cause.Message }
		i := slices.IndexFunc(*all, same)
		if i < 0 {
			*all = append(*all, objection{cause.Field, cause.Message, []client.Object{obj}})
		} else if !slices.Contains((*all)[i].objects, obj) {
			(*all)[i].objects = append((*all)[i].objects, obj)
		}
	}
}

// sentences name the field of the experiment, where it can be told from the field of its objects.
func (all objections) sentences(x *v1alpha1.ReplicationExperiment) (lines []string) {
	for _, r := range all {
		what := fmt.Sprintf("%s %s", strings.TrimPrefix(fmt.Sprintf("%T", r.objects[0]), "*"), r.objects[0].GetName())
		if others := len(r.objects) - 1; others > 0 {
			what += fmt.Sprintf(" and %d more", others)
		}
		why := validationRegex.ReplaceAllString(r.why, "")
		if field := r.asked(x); field != "" {
			lines = append(lines, fmt.Sprintf("%s: the API server refuses %s: %s. Correct or remove it.", field, what, why))
			continue
		}
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("the API server refuses %s: %s %s", what, r.field, why)))
	}
	return lines
}

var (
	validationRegex = regexp.MustCompile(`, regex used for validation is '[^']*'`)
	podField        = regexp.MustCompile(`^spec\.template\.(?:spec\.|metadata\.)?((labels|annotations|nodeSelector|tolerations|affinity|topologySpreadConstraints|imagePullSecrets|priorityClassName|securityContext).*)$`)
	resourcesField  = regexp.MustCompile(`^spec\.template\.spec\.(?:initContainers|containers)\[\d+\]\.(resources.*)$`)
)

// asked is the field of the experiment that a refused field comes from, "" where that is not known.
func (r objection) asked(x *v1alpha1.ReplicationExperiment) string {
	whose := r.whose()
	if parts := podField.FindStringSubmatch(r.field); parts != nil {
		return "spec.pods." + whose + "." + parts[1]
	}
	if parts := resourcesField.FindStringSubmatch(r.field); parts != nil {
		if asked := x.Spec.Topology.Resources; whose == "nodes" && (asked.Limits != nil || asked.Requests != nil) {
			return "spec.topology." + parts[1]
		}
		return "spec.pods." + whose + "." + parts[1]
	}
	if strings.HasPrefix(r.field, "spec.volumeClaimTemplates") {
		return "spec.topology.storage"
	}
	return ""
}

// whose settings of pods are refused: those of all pods, of the nodes or of the instruments.
func (r objection) whose() string {
	whose := ""
	for _, o := range r.objects {
		part := "all"
		switch o.GetLabels()[kube.LabelComponent] {
		case kube.ComponentNode:
			part = "nodes"
		case kube.ComponentRecorder, kube.ComponentLoad, kube.ComponentSeed, kube.ComponentAudit:
			part = "instruments"
		}
		if whose != "" && whose != part {
			return "all"
		}
		whose = part
	}
	return whose
}
