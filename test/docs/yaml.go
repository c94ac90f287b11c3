package docs

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"replab.dev/test/experiment"
)

// plainExperiment is what a change stands for on a page that has no whole experiment before it.
const plainExperiment = `
apiVersion: replab.dev/v1alpha1
kind: ReplicationExperiment
metadata: {name: plain}
spec:
  topology: {type: Single}
  load: {stages: [{name: steady, durationSeconds: 30, users: 10}]}
`

// YAML is what the blocks of YAML of a page say.
type YAML struct {
	// Objects for kubectl. A block that has a spec and no kind is a change of the last experiment or suite before it: what comes of that.
	Objects []*unstructured.Unstructured
	// Values of the operator's chart: blocks with neither.
	Values []map[string]any
}

// YAML reads the page's blocks of YAML.
func (p Page) YAML() (YAML, error) {
	var found YAML
	var last map[string]any
	if err := yaml.Unmarshal([]byte(plainExperiment), &last); err != nil {
		return YAML{}, err
	}
	for _, block := range p.Blocks {
		if block.Language != "yaml" || block.OfCI() {
			continue
		}
		for part := range strings.SplitSeq(block.Text, "\n---\n") {
			var object map[string]any
			if err := yaml.UnmarshalStrict([]byte(part), &object); err != nil {
				return YAML{}, fmt.Errorf("%s: %w in\n%s", p.Path, err, part)
			}
			switch kind, change := object["kind"], object["spec"]; {
			case kind == "ReplicationExperiment", kind == "ReplicationSuite":
				last = object
				found.Objects = append(found.Objects, &unstructured.Unstructured{Object: clone(object)})
			case kind != nil:
				found.Objects = append(found.Objects, &unstructured.Unstructured{Object: object})
			case change != nil:
				changed := clone(last)
				experiment.Merge(changed, object)
				found.Objects = append(found.Objects, &unstructured.Unstructured{Object: changed})
			default:
				found.Values = append(found.Values, object)
			}
		}
	}
	return found, nil
}

func clone(object map[string]any) map[string]any {
	return (&unstructured.Unstructured{Object: object}).DeepCopy().Object
}
