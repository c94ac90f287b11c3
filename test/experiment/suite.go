package experiment

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	schemavalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"replab.dev/api/v1alpha1"
	crd "replab.dev/config/crd"
)

// LoadSuite reads a suite of the folder experiments.
func LoadSuite(t testing.TB, name string) *v1alpha1.ReplicationSuite {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(Root(), "experiments", name+".yaml"))
	must(t, err)
	return ParseSuite(t, text)
}

// ParseSuite reads the YAML of a suite as the API server does: unknown fields and values that the schema refuses fail the test.
func ParseSuite(t testing.TB, text []byte) *v1alpha1.ReplicationSuite {
	t.Helper()
	asJSON, err := yaml.YAMLToJSON(text)
	must(t, err)
	var object map[string]any
	must(t, json.Unmarshal(asJSON, &object))
	d, err := suites()
	must(t, err)
	unknown := pruning.PruneWithOptions(object, d.structural, true, structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	if len(unknown) > 0 {
		t.Fatalf("unknown fields: %v", unknown)
	}
	defaulting.Default(object, d.structural)
	if errs := schemavalidation.ValidateCustomResource(nil, object, d.validator); len(errs) > 0 {
		t.Fatal(errs.ToAggregate())
	}
	x := &v1alpha1.ReplicationSuite{}
	whole, err := json.Marshal(object)
	must(t, err)
	must(t, json.Unmarshal(whole, x))
	if x.Namespace == "" {
		x.Namespace = "default"
	}
	x.UID, x.Generation = types.UID("uid-of-"+x.Name), 1
	return x
}

type suiteSchema struct {
	structural *structuralschema.Structural
	validator  schemavalidation.SchemaValidator
}

var suites = sync.OnceValues(func() (*suiteSchema, error) {
	definition := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal(crd.Suites, definition); err != nil {
		return nil, err
	}
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(definition.Spec.Versions[0].Schema.OpenAPIV3Schema, &internal, nil); err != nil {
		return nil, err
	}
	structural, err := structuralschema.NewStructural(&internal)
	if err != nil {
		return nil, err
	}
	validator, _, err := schemavalidation.NewSchemaValidator(&internal)
	return &suiteSchema{structural, validator}, err
})
