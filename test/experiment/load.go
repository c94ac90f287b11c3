// Package experiment reads experiments for tests as the API server would store them: with the defaults of the CRD.
package experiment

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"replab.dev/api/v1alpha1"
)

// Root is the project's folder.
func Root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..")
}

// Load reads an experiment of the folder experiments.
func Load(t testing.TB, name string) *v1alpha1.ReplicationExperiment {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(Root(), "experiments", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return Parse(t, text)
}

// Parse reads YAML, fills in the CRD's defaults, and adds what the API server adds.
func Parse(t testing.TB, text []byte) *v1alpha1.ReplicationExperiment {
	t.Helper()
	var object map[string]any
	must(t, yaml.Unmarshal(text, &object))
	s, err := schema()
	must(t, err)
	defaulting.Default(object, s)
	x := &v1alpha1.ReplicationExperiment{}
	must(t, k8sruntime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object, x, true))
	if x.Namespace == "" {
		x.Namespace = "default"
	}
	x.UID, x.Generation = types.UID("uid-of-"+x.Name), 1
	return x
}

// Merge applies a patch as RFC 7396 says: null removes, objects merge, all else replaces.
func Merge(object, patch map[string]any) {
	for key, value := range patch {
		below, isObject := value.(map[string]any)
		existing, hasObject := object[key].(map[string]any)
		switch {
		case value == nil:
			delete(object, key)
		case isObject && hasObject:
			Merge(existing, below)
		default:
			object[key] = value
		}
	}
}

// CRD returns the project's custom resource definition.
func CRD(t testing.TB) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crd, err := definition()
	must(t, err)
	return crd.DeepCopy()
}

// Walk visits a schema and everything below it; the path of a list's items ends in [].
func Walk(path string, field *apiextensionsv1.JSONSchemaProps, visit func(string, *apiextensionsv1.JSONSchemaProps)) {
	visit(path, field)
	for name := range field.Properties {
		below := field.Properties[name]
		Walk(strings.TrimPrefix(path+"."+name, "."), &below, visit)
	}
	if field.Items != nil && field.Items.Schema != nil {
		Walk(path+"[]", field.Items.Schema, visit)
	}
	if field.AdditionalProperties != nil && field.AdditionalProperties.Schema != nil {
		Walk(path+"{}", field.AdditionalProperties.Schema, visit)
	}
}

// definition is read once, since that takes longer than to read any experiment; so is its schema.
var definition = sync.OnceValues(func() (*apiextensionsv1.CustomResourceDefinition, error) {
	text, err := os.ReadFile(filepath.Join(Root(), "config", "crd", "replab.dev_replicationexperiments.yaml"))
	if err != nil {
		return nil, err
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	return crd, yaml.Unmarshal(text, crd)
})

var schema = sync.OnceValues(func() (*structuralschema.Structural, error) {
	crd, err := definition()
	if err != nil {
		return nil, err
	}
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(crd.Spec.Versions[0].Schema.OpenAPIV3Schema, &internal, nil); err != nil {
		return nil, err
	}
	return structuralschema.NewStructural(&internal)
})

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
