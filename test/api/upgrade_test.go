package api_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"replab.dev/test/kubetest"
	"replab.dev/test/specs"
)

// olderGroup has a CRD of its own, which becomes newer while experiments run.
const olderGroup = "older.replab.dev"

// TestExperimentsThatRunWhenRulesComeAreEndedAsBefore: an older version knew none of the spec's rules and has accepted what breaks
// them. Under the new rules such an experiment may still be ended.
func TestExperimentsThatRunWhenRulesComeAreEndedAsBefore(t *testing.T) {
	newer := olderCRD(t)
	before := newer.DeepCopy()
	schema := before.Spec.Versions[0].Schema.OpenAPIV3Schema
	spec := schema.Properties["spec"]
	withoutRules(&spec)
	schema.Properties["spec"] = spec
	install(t, before)
	cases, running := casesOfTheCRD(t), []*unstructured.Unstructured{}
	for i, c := range cases {
		object := ofOlderGroup(minimalWith(t, c.Refused), fmt.Sprintf("case-%d", i))
		if err := kubetest.Client(t).Create(t.Context(), object); err != nil {
			t.Fatalf("%s: the older version refuses it: %v", c.Name, err)
		}
		running = append(running, object)
	}
	install(t, newer)
	awaitRefusal(t, ofOlderGroup(minimalWith(t, cases[0].Refused), "another"))
	for i, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			start(t, running[i])
			if err := dryUpdate(t, running[i], `{spec: {abort: true, keep: Always, ttlSecondsAfterFinished: 60}}`); err != nil {
				t.Errorf("it cannot be ended: %v", err)
			}
		})
	}
}

// casesOfTheCRD are those that the API server itself refuses. An experiment's name cannot change.
func casesOfTheCRD(t *testing.T) []specs.Case {
	t.Helper()
	return slices.DeleteFunc(slices.Clone(specs.Cases), func(c specs.Case) bool {
		answer := checked(t, minimalWith(t, c.Refused))
		return len(answer.Schema) == 0 || c.Field == "metadata.name"
	})
}

func olderCRD(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	definition := readCRD(t)
	definition.Spec.Group = olderGroup
	definition.Name = definition.Spec.Names.Plural + "." + olderGroup
	return definition
}

func ofOlderGroup(object *unstructured.Unstructured, name string) *unstructured.Unstructured {
	object.SetAPIVersion(olderGroup + "/v1alpha1")
	object.SetName(name)
	return object
}

// withoutRules takes the rules away from a schema and all below it.
func withoutRules(schema *apiextensionsv1.JSONSchemaProps) {
	schema.XValidations = nil
	for name, field := range schema.Properties {
		withoutRules(&field)
		schema.Properties[name] = field
	}
	if schema.Items != nil && schema.Items.Schema != nil {
		withoutRules(schema.Items.Schema)
	}
	if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
		withoutRules(schema.AdditionalProperties.Schema)
	}
}

// install creates or changes a CRD that is gone, with its experiments, when the test is over.
func install(t *testing.T, definition *apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	options := envtest.CRDInstallOptions{CRDs: []*apiextensionsv1.CustomResourceDefinition{definition}, MaxTime: time.Minute}
	if _, err := envtest.InstallCRDs(kubetest.Config(t), options); err != nil {
		t.Fatal(err)
	}
	config := kubetest.Config(t)
	t.Cleanup(func() {
		if err := envtest.UninstallCRDs(config, options); err != nil {
			t.Error(err)
		}
	})
}

// awaitRefusal waits until the API server holds the new rules.
func awaitRefusal(t *testing.T, object *unstructured.Unstructured) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		return dryRun(t, object.DeepCopy()) != nil, nil
	})
	if err != nil {
		t.Fatalf("the API server does not hold the new rules: %v", err)
	}
}
