package api_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	crd "replab.dev/test/experiment"
)

// refusedByARule are values within the bounds that break a rule of the CRD in the company of whole.
var refusedByARule = map[string][]any{
	"spec.faults[].target":         {"Node"},           // needs a node
	"spec.faults[].action":         {"Partition"},      // needs partitionFrom
	"spec.topology.storage.medium": {"Node", "Memory"}, // a class
}

// inBounds has values for patterns and for lists: one with %d for the item's number, or several to take in turn.
var inBounds = map[string][]string{
	"spec.baseline.name":                                    {`a-1`},
	"spec.topology.storage.className":                       {`fast.ssd-1`},
	"spec.load.script.configMapKeyRef.name":                 {`a.b-1`},
	"spec.load.script.env[].valueFrom.secretKeyRef.name":    {`a.b-1`},
	"spec.load.script.env[].valueFrom.secretKeyRef.key":     {`A.b_-1`},
	"spec.load.script.env[].valueFrom.configMapKeyRef.name": {`a.b-1`},
	"spec.load.script.env[].valueFrom.configMapKeyRef.key":  {`A.b_-1`},
	"spec.pods.all.priorityClassName":                       {`high-1`},
	"spec.pods.nodes.priorityClassName":                     {`high-1`},
	"spec.pods.instruments.priorityClassName":               {`high-1`},
	"spec.load.script.configMapKeyRef.key":                  {`Load_1.test-a.js`},
	"spec.load.script.env[].name":                           {`_A1`},
	"spec.load.script.env":                                  {`{name: V%d, value: a}`},
	"spec.faults[].name":                                    {`a-1`},
	"spec.load.stages[].name":                               {`a-1`},
	"spec.faults":                                           {`{name: f%d, atSeconds: %d, target: Primary, action: Kill}`},
	"spec.load.stages":                                      {`{name: n%d, durationSeconds: 3600, users: 10}`},
	"spec.probes.lag.sweepPayloadBytes":                     {`%d`},
	"spec.topology.zones":                                   {`{name: z%d, nodes: [0]}`},
	"spec.topology.zones[].nodes":                           {`%d`},
	"spec.topology.links":                                   {`{from: l%d, to: us, roundTripMilliseconds: 1}`},
	"spec.topology.parameters":                              {`p%d`},
	"spec.pods.all.labels":                                  {`p%d`},
	"spec.pods.all.annotations":                             {`p%d`},
	"spec.pods.all.nodeSelector":                            {`p%d`},
	"spec.pods.all.tolerations":                             {`{key: t%d}`},
	"spec.pods.all.topologySpreadConstraints":               {`{maxSkew: 1, topologyKey: z%d, whenUnsatisfiable: ScheduleAnyway}`},
	"spec.pods.all.imagePullSecrets":                        {`{name: s%d}`},
	"spec.pods.nodes.labels":                                {`p%d`},
	"spec.pods.nodes.annotations":                           {`p%d`},
	"spec.pods.nodes.nodeSelector":                          {`p%d`},
	"spec.pods.nodes.tolerations":                           {`{key: t%d}`},
	"spec.pods.nodes.topologySpreadConstraints":             {`{maxSkew: 1, topologyKey: z%d, whenUnsatisfiable: ScheduleAnyway}`},
	"spec.pods.nodes.imagePullSecrets":                      {`{name: s%d}`},
	"spec.pods.instruments.labels":                          {`p%d`},
	"spec.pods.instruments.annotations":                     {`p%d`},
	"spec.pods.instruments.nodeSelector":                    {`p%d`},
	"spec.pods.instruments.tolerations":                     {`{key: t%d}`},
	"spec.pods.instruments.topologySpreadConstraints":       {`{maxSkew: 1, topologyKey: z%d, whenUnsatisfiable: ScheduleAnyway}`},
	"spec.pods.instruments.imagePullSecrets":                {`{name: s%d}`},
	"spec.goals": {
		`{metric: lostWrites, max: 0}`, `{metric: ghostWrites, max: 0}`, `{metric: indeterminateWrites, max: 0}`, `{metric: rejectedWrites, max: 0}`,
		`{metric: staleReads, max: 0}`, `{metric: failedRequests, max: 0}`, `{metric: requestsPerSecond, max: 0}`, `{metric: p50Microseconds, max: 0}`,
		`{metric: p95Microseconds, max: 0}`, `{metric: p99Microseconds, max: 0}`, `{metric: outageMilliseconds, max: 0}`, `{metric: lagP50Microseconds, max: 0}`,
		`{metric: lagP99Microseconds, max: 0}`, `{metric: lagMaxMicroseconds, max: 0}`, `{metric: droppedIterations, max: 0}`, `{metric: maxMicroseconds, max: 0}`, `{metric: degradedCommits, max: 0}`,
	},
}

// bound is one limit of the field at path: a value beyond it, what the refusal says, and the last values within.
type bound struct {
	path   string
	name   string
	beyond any // nil: the field is left out
	says   string
	within []any
}

// foreign are Kubernetes' own types.
var foreign = regexp.MustCompile(`^spec\.(topology\.(resources|storage\.size)|pods\.[a-z]+\.(affinity|tolerations|topologySpreadConstraints|securityContext|resources|imagePullSecrets)([.[].+|$))`)

func TestEveryBoundOfTheSpecIsEnforced(t *testing.T) {
	spec := readCRD(t).Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	crd.Walk("spec", &spec, func(path string, field *apiextensionsv1.JSONSchemaProps) {
		if foreign.MatchString(path) {
			return
		}
		for _, b := range append(required(path, field), bounds(t, path, field)...) {
			t.Run(b.path+" "+b.name, func(t *testing.T) { b.check(t) })
		}
	})
}

// TestIntegersOfTheSpecHaveBounds: clients that read JSON numbers as floating point keep no more than 53 bits. Any number may be a seed.
func TestIntegersOfTheSpecHaveBounds(t *testing.T) {
	for _, definition := range []*apiextensionsv1.CustomResourceDefinition{readCRD(t), readSuiteCRD(t)} {
		spec := definition.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
		crd.Walk("spec", &spec, func(path string, field *apiextensionsv1.JSONSchemaProps) {
			if field.Type == "integer" && (field.Minimum == nil || field.Maximum == nil) && !foreign.MatchString(path) && path != "spec.dataset.seed" {
				t.Errorf("%s: %s has no bounds", definition.Name, path)
			}
		})
	}
}

func (b bound) check(t *testing.T) {
	patch := whole
	for _, p := range []string{scripted, proxied, later} {
		if _, found := locate(fromYAML(t, whole), b.path); found {
			break
		}
		patch = p
		if _, found := locate(fromYAML(t, p), b.path); found {
			break
		}
	}
	try := func(value any) (string, error) {
		object := minimalWith(t, patch)
		p, found := locate(object.Object, b.path)
		switch {
		case !found:
			t.Fatalf("none of whole, scripted, proxied and later has %s: add it", b.path)
		case value == nil:
			p.remove()
		default:
			p.put(value)
		}
		return p.where, dryRun(t, object)
	}
	where, err := try(b.beyond)
	if err == nil || !strings.Contains(err.Error(), where+": ") || !strings.Contains(err.Error(), b.says) {
		t.Errorf("refusal of %v = %v, want one that names %s and says %q", b.beyond, err, where, b.says)
	}
	if patch == later {
		return // refused within its bounds too
	}
	for _, value := range b.within {
		if slices.Contains(refusedByARule[b.path], value) {
			continue
		}
		if _, err := try(value); err != nil {
			t.Errorf("%v is refused: %v", value, err)
		}
	}
}

// required are the fields that an object must have.
func required(path string, object *apiextensionsv1.JSONSchemaProps) []bound {
	var found []bound
	for _, name := range object.Required {
		found = append(found, bound{path + "." + name, "is required", nil, "Required value", nil})
	}
	return found
}

// bounds are the limits that a field's schema states.
func bounds(t *testing.T, path string, field *apiextensionsv1.JSONSchemaProps) []bound {
	t.Helper()
	var found []bound
	add := func(name string, beyond any, says string, within ...any) {
		found = append(found, bound{path, name, beyond, says, within})
	}
	if field.Minimum != nil {
		add("minimum", *field.Minimum-1, fmt.Sprintf("greater than or equal to %d", int64(*field.Minimum)), *field.Minimum)
	}
	if field.Maximum != nil {
		add("maximum", *field.Maximum+1, fmt.Sprintf("less than or equal to %d", int64(*field.Maximum)), *field.Maximum)
	}
	if len(field.Enum) > 0 {
		var values []any
		for _, v := range field.Enum {
			var value any
			if err := json.Unmarshal(v.Raw, &value); err != nil {
				t.Fatal(err)
			}
			values = append(values, value)
		}
		add("values", "Other", fmt.Sprintf("supported values: %q", values[0]), values...)
	}
	if field.Pattern != "" {
		add("pattern", "-Not a name", "should match '"+field.Pattern+"'", example(t, path, 0))
	}
	if n := field.MinLength; n != nil {
		add("least length", strings.Repeat("a", int(*n)-1), fmt.Sprintf("should be at least %d chars long", *n), strings.Repeat("a", int(*n)))
	}
	if n := field.MaxLength; n != nil {
		add("length", strings.Repeat("a", int(*n)+1), fmt.Sprintf("may not be more than %d", *n), strings.Repeat("a", int(*n)))
	}
	if n := field.MinItems; n != nil {
		add("least number", list(t, path, *n-1), fmt.Sprintf("should have at least %d items", *n), list(t, path, *n))
	}
	if n := field.MaxItems; n != nil {
		add("number", list(t, path, *n+1), fmt.Sprintf("must have at most %d items", *n), list(t, path, *n))
	}
	if n := field.MaxProperties; n != nil {
		add("number", entries(t, path, *n+1), fmt.Sprintf("must have at most %d", *n), entries(t, path, *n))
	}
	return found
}
