// Command crd finishes a CRD: `go run ./hack/crd CRD.yaml`. Of Kubernetes' own types it takes the descriptions out and writes the rest on one line: a
// pod's affinity is explained in Kubernetes' reference, and three copies of it would make the CRD too large for kubectl apply. It narrows values to
// those that the operator can decode: see decodable.
package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"slices"

	yamlnode "go.yaml.in/yaml/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"
)

// foreign are the names of fields that have a type of Kubernetes' own, wherever they are in the spec.
var foreign = []string{
	"affinity", "env", "imagePullSecrets", "resources", "securityContext", "tolerations", "topologySpreadConstraints",
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: crd CRD.yaml")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "crd:", err)
		os.Exit(1)
	}
}

func run(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(text, &crd); err != nil {
		return fmt.Errorf("parse the CRD %s: %w", file, err)
	}
	for i := range crd.Spec.Versions {
		schema := crd.Spec.Versions[i].Schema.OpenAPIV3Schema
		spec := schema.Properties["spec"]
		everywhere(&spec, shorten)
		everywhere(&spec, decodable)
		schema.Properties["spec"] = spec
	}
	var object map[string]any
	if text, err = yaml.Marshal(crd); err != nil {
		return err
	}
	if err := yaml.Unmarshal(text, &object); err != nil {
		return err
	}
	delete(object, "status") // of the API server alone
	if text, err = yaml.Marshal(object); err != nil {
		return err
	}
	var document yamlnode.Node
	if err := yamlnode.Unmarshal(text, &document); err != nil {
		return err
	}
	flatten(&document)
	out := bytes.NewBufferString("---\n")
	encoder := yamlnode.NewEncoder(out)
	encoder.SetIndent(2)
	if err := encoder.Encode(&document); err != nil {
		return err
	}
	return os.WriteFile(file, out.Bytes(), 0o644)
}

// flatten writes foreign fields on one line: their indentation alone would be a third of the file.
func flatten(node *yamlnode.Node) {
	for i, below := range node.Content {
		if node.Kind == yamlnode.MappingNode && i%2 == 1 && below.Kind == yamlnode.MappingNode && slices.Contains(foreign, node.Content[i-1].Value) {
			below.Style = yamlnode.FlowStyle
			continue
		}
		flatten(below)
	}
}

// shorten removes the descriptions below each foreign field of a schema; the field's own says what it is for here.
func shorten(schema *apiextensionsv1.JSONSchemaProps) {
	for name, field := range schema.Properties {
		if slices.Contains(foreign, name) {
			description := field.Description
			everywhere(&field, func(below *apiextensionsv1.JSONSchemaProps) { below.Description = "" })
			field.Description = description
			schema.Properties[name] = field
		}
	}
}

// quantity is what resource.Quantity reads: controller-gen's own pattern also takes exponents with a fraction, and has no bounds.
const quantity = `^[+-]?([0-9]{1,19}(\.[0-9]{0,19})?|\.[0-9]{1,19})([KMGTPE]i|[numkMGTPE]|[eE]-?[0-9]{1,2})?$`

// decodable narrows a schema to values that Go can decode. The operator cannot read an object with any other.
func decodable(schema *apiextensionsv1.JSONSchemaProps) {
	switch {
	case schema.XIntOrString && schema.Pattern != "":
		schema.Pattern, schema.MaxLength = quantity, ptr.To[int64](48)
	case schema.Type == "integer" && schema.Format == "int32": // Kubernetes before 1.36 ignores the format
		if schema.Minimum == nil {
			schema.Minimum = ptr.To[float64](math.MinInt32)
		}
		if schema.Maximum == nil {
			schema.Maximum = ptr.To[float64](math.MaxInt32)
		}
	}
}

// everywhere calls do for a schema and all that is below it.
func everywhere(schema *apiextensionsv1.JSONSchemaProps, do func(*apiextensionsv1.JSONSchemaProps)) {
	do(schema)
	for name, field := range schema.Properties {
		everywhere(&field, do)
		schema.Properties[name] = field
	}
	if schema.Items != nil && schema.Items.Schema != nil {
		everywhere(schema.Items.Schema, do)
	}
	if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
		everywhere(schema.AdditionalProperties.Schema, do)
	}
}
