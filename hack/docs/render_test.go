package main

import (
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

const example = `
spec:
  group: example.org
  names: {kind: Thing, shortNames: [th]}
  scope: Namespaced
  versions:
  - name: v1
    additionalPrinterColumns: [{name: Size, type: integer, jsonPath: .spec.size}]
    schema:
      openAPIV3Schema:
        description: "Thing is one.\n\nIt has two paragraphs."
        x-kubernetes-validations: [{rule: "true", message: "metadata.name must be short: shorten it"}]
        properties:
          spec:
            required: [size]
            properties:
              size: {type: integer, description: "size of it,\nin bytes.", minimum: 1, maximum: 9}
              colour: {type: string, enum: [red, a|b], default: red}
              parts:
                type: array
                maxItems: 3
                items:
                  type: object
                  description: Part is a part.
                  x-kubernetes-validations: [{rule: "true", message: "parts[].name needs a name"}]
                  properties: {name: {type: string, pattern: ^a$}}
              labels:
                type: object
                additionalProperties: {type: string}
                x-kubernetes-validations: [{rule: "true", message: "labels must be few: remove some"}]
          status:
            properties: {seen: {type: string, format: date-time}}
`

func TestReferenceHasEveryFieldLimitAndRule(t *testing.T) {
	text := rendered(t, example)
	for _, want := range []string{
		"# Thing\n\nThing is one.\n\nIt has two paragraphs.\n",
		"- metadata.name must be short: shorten it\n",
		"| Size | `spec.size` |\n",
		"| `size` | integer | required | 1 to 9 | size of it, in bytes. |\n",
		"| `colour` | string | `red` | `red`, `a\\|b` |  |\n",
		"| `parts` | list of [object](#specparts) |  | at most 3 items |  |\n",
		"### spec.parts[]\n\nPart is a part.\n",
		"| `name` | string |  | matches `^a$` |  |\n",
		"- parts[].name needs a name\n",
		"| `labels` | map of string |  |  |  |\n",
		"- labels must be few: remove some\n",
		"| `seen` | time |  |\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the reference lacks %q:\n%s", want, text)
		}
	}
	if strings.Index(text, "`size` |") > strings.Index(text, "`colour` |") {
		t.Error("a required field stands after an optional one")
	}
}

func TestReferenceIsTheSameEachTime(t *testing.T) {
	first := rendered(t, example)
	for range 20 {
		if again := rendered(t, example); again != first {
			t.Fatalf("two runs differ:\n%s\n%s", first, again)
		}
	}
}

func TestReferenceNeedsASchema(t *testing.T) {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := render(&strings.Builder{}, crd); err == nil {
		t.Error("a CRD without a version was rendered")
	}
	crd.Spec.Versions = make([]apiextensionsv1.CustomResourceDefinitionVersion, 1)
	if err := render(&strings.Builder{}, crd); err == nil {
		t.Error("a CRD without a schema was rendered")
	}
}

func rendered(t *testing.T, crdText string) string {
	t.Helper()
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict([]byte(crdText), &crd); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := render(&b, &crd); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
