package api_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apimachinery/pkg/util/version"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"sigs.k8s.io/yaml"

	crd "replab.dev/test/experiment"
	"replab.dev/test/kubetest"
)

// TestTheOldestServerThatTheChartTakesCompilesEveryRule: an API server takes from new rules only what the version before it knows too,
// so that it can be rolled back.
func TestTheOldestServerThatTheChartTakesCompilesEveryRule(t *testing.T) {
	oldest := chartVersion(t)
	rules := environment.MustBaseEnvSet(oldest.OffsetMinor(-1))
	compiled := 0
	crd.Walk("", readCRD(t).Spec.Versions[0].Schema.OpenAPIV3Schema, func(path string, field *apiextensionsv1.JSONSchemaProps) {
		if len(field.XValidations) == 0 {
			return
		}
		s := structural(t, field)
		results, err := cel.Compile(s, model.SchemaDeclType(s, path == ""), celconfig.PerCallLimit, rules, cel.NewExpressionsEnvLoader())
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for i, result := range results {
			compiled++
			if result.Error != nil {
				t.Errorf("Kubernetes %s does not take the rule of %s that says %q: %s", oldest, path, field.XValidations[i].Message, result.Error.Detail)
			}
			if result.MessageExpressionError != nil {
				t.Errorf("Kubernetes %s does not take the messageExpression of %s that says %q: %s", oldest, path, field.XValidations[i].Message, result.MessageExpressionError.Detail)
			}
		}
	})
	if compiled != len(allRules(t)) {
		t.Errorf("%d rules were compiled, the CRD has %d", compiled, len(allRules(t)))
	}
}

// chartVersion is the oldest Kubernetes that the chart lets itself be installed on.
func chartVersion(t *testing.T) *version.Version {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(kubetest.Root(), "charts", "replab", "Chart.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var chart struct {
		KubeVersion string `json:"kubeVersion"`
	}
	if err := yaml.Unmarshal(text, &chart); err != nil {
		t.Fatal(err)
	}
	constraint, isLowest := strings.CutPrefix(chart.KubeVersion, ">=")
	oldest, err := version.ParseSemantic(constraint)
	if err != nil || !isLowest {
		t.Fatalf("kubeVersion %q of the chart is not the lowest one: %v", chart.KubeVersion, err)
	}
	return oldest
}

// structural is a schema as the API server compiles it.
func structural(t *testing.T, field *apiextensionsv1.JSONSchemaProps) *structuralschema.Structural {
	t.Helper()
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(field, &internal, nil); err != nil {
		t.Fatal(err)
	}
	s, err := structuralschema.NewStructural(&internal)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
