package main

import (
	"math"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/utils/ptr"
)

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
