package api_test

import (
	"regexp"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	crd "replab.dev/test/experiment"
)

// TestEveryListIsBoundedAndMerges: apply must know how to join lists, and the cost of rules must have a bound.
func TestEveryListIsBoundedAndMerges(t *testing.T) {
	for _, definition := range []*apiextensionsv1.CustomResourceDefinition{readCRD(t), readSuiteCRD(t)} {
		crd.Walk("", definition.Spec.Versions[0].Schema.OpenAPIV3Schema, func(path string, field *apiextensionsv1.JSONSchemaProps) {
			if field.Type != "array" || inForeign(path) {
				return
			}
			if field.MaxItems == nil {
				t.Errorf("%s has no maxItems", path)
			}
			if field.XListType == nil {
				t.Errorf("%s has no list type", path)
			}
		})
	}
}

// TestEveryStringOfTheSpecIsBounded, by its length, its values or its pattern; values of maps are so by rules or by what they become.
func TestEveryStringOfTheSpecIsBounded(t *testing.T) {
	for _, definition := range []*apiextensionsv1.CustomResourceDefinition{readCRD(t), readSuiteCRD(t)} {
		spec := definition.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
		crd.Walk("spec", &spec, func(path string, field *apiextensionsv1.JSONSchemaProps) {
			if field.Type == "string" && field.MaxLength == nil && len(field.Enum) == 0 && !strings.HasSuffix(path, "{}") && !inForeign(path) {
				t.Errorf("%s has no maxLength", path)
			}
		})
	}
}

// TestEveryWordOfTheStatusIsOneOfSome: what programs may ask for by value has its values in the schema.
func TestEveryWordOfTheStatusIsOneOfSome(t *testing.T) {
	status := readCRD(t).Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["status"]
	crd.Walk("status", &status, func(path string, field *apiextensionsv1.JSONSchemaProps) {
		for _, name := range []string{"role", "state", "verdict", "metric"} {
			if strings.HasSuffix(path, "."+name) && len(field.Enum) == 0 {
				t.Errorf("%s has no values", path)
			}
		}
	})
}

// inForeign finds what is below a field of one of Kubernetes' own types.
var inForeign = regexp.MustCompile(`^spec\.(topology\.resources|pods\.[a-z]+\.(affinity|tolerations|topologySpreadConstraints|securityContext|resources|imagePullSecrets))[.[]`).MatchString
