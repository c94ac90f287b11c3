package api_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"replab.dev/api/v1alpha1"
	"replab.dev/test/experiment"
)

// awkward are JSON values that some Go type refuses, or reads only at great cost.
var awkward = []string{
	`""`, `"x"`, `"1"`, `"1e1.5"`, `"1e.5"`, `"1e1."`, `"1e99999999999999999999"`, `"1e-99999999"`, `"1e2147483648"`, `"1e400"`, `"1k1"`, `"."`, `"+"`, `"1_000"`, `" 1"`,
	`"` + strings.Repeat("1", 400) + `"`, `"0.` + strings.Repeat("1", 400) + `"`, `"2026-01-01T00:00:00Z"`, `"2026-01-01"`, `"5m"`,
	`2147483648`, `-2147483649`, `9007199254740993`, `9223372036854775807`, `9223372036854775808`, `1e30`, `1e3`, `1.0`, `0.5`, `-1`, `true`, `[]`, `{}`,
}

// TestStoredSpecsDecode checks every field of the spec: Go decodes each value that the schema takes. Kubernetes before 1.36 ignores the
// format of integers, so the schema must not rely on it.
func TestStoredSpecsDecode(t *testing.T) {
	decodes(t, readCRD(t), reflect.TypeFor[v1alpha1.ReplicationExperimentSpec](), 300)
}

// TestStoredSuitesDecode: one that does not would stop the watch of all.
func TestStoredSuitesDecode(t *testing.T) {
	decodes(t, readSuiteCRD(t), reflect.TypeFor[v1alpha1.ReplicationSuiteSpec](), 30)
}

func decodes(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition, spec reflect.Type, fewest int) {
	t.Helper()
	schema := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	leaves := 0
	eachField("spec", spec, &schema, func(path string, field reflect.Type, s *apiextensionsv1.JSONSchemaProps) {
		leaves++
		takes := validator(t, s)
		for _, text := range awkward {
			var value any
			if err := utiljson.Unmarshal([]byte(text), &value); err != nil {
				t.Fatal(err)
			}
			if !takes(value) {
				continue
			}
			stored, err := json.Marshal(value)
			if err != nil {
				t.Fatal(err)
			}
			failed := make(chan error, 1)
			go func() { failed <- json.Unmarshal(stored, reflect.New(field).Interface()) }()
			select {
			case err := <-failed:
				if err != nil {
					t.Errorf("%s: the schema takes %.40s, which %v refuses: %v", path, text, field, err)
				}
			case <-time.After(5 * time.Second): // it goes on, and takes all memory
				t.Fatalf("%s: the schema takes %.40s, which %v does not come to an end with", path, text, field)
			}
			if field.Name() == "Quantity" && len(stored) > 64 {
				t.Errorf("%s: the schema takes a quantity of %d characters", path, len(stored))
			}
		}
	})
	if leaves < fewest {
		t.Errorf("only %d fields were found", leaves)
	}
}

// TestUsualQuantitiesAreTaken keeps the pattern of quantities from refusing what people write.
func TestUsualQuantitiesAreTaken(t *testing.T) {
	found := 0
	experiment.Walk("", readCRD(t).Spec.Versions[0].Schema.OpenAPIV3Schema, func(path string, s *apiextensionsv1.JSONSchemaProps) {
		if !s.XIntOrString {
			return
		}
		found++
		takes := validator(t, s)
		for _, value := range []any{int64(2), "0", "2", "0.5", ".5", "5.", "100m", "1500u", "64Mi", "1.5Gi", "1e3", "1E3", "1e-3", "2E", "+1", "-1", "1Ei", "9223372036854775807"} {
			if !takes(value) {
				t.Errorf("%s refuses %v", path, value)
			}
		}
	})
	if found == 0 {
		t.Error("no quantity was found")
	}
}

// validator tells whether the schema takes a value, as an API server that ignores the format of integers.
func validator(t *testing.T, s *apiextensionsv1.JSONSchemaProps) func(any) bool {
	t.Helper()
	s = s.DeepCopy()
	if s.Type == "integer" {
		s.Format = ""
	}
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(s, &internal, nil); err != nil {
		t.Fatal(err)
	}
	v, _, err := validation.NewSchemaValidator(&internal)
	if err != nil {
		t.Fatal(err)
	}
	return func(value any) bool { return len(validation.ValidateCustomResource(nil, value, v)) == 0 }
}

// eachField visits the Go types that hold a single value, with their schemas.
func eachField(path string, field reflect.Type, s *apiextensionsv1.JSONSchemaProps, visit func(string, reflect.Type, *apiextensionsv1.JSONSchemaProps)) {
	_, decodesItself := reflect.PointerTo(field).MethodByName("UnmarshalJSON")
	switch {
	case field.Kind() == reflect.Pointer:
		eachField(path, field.Elem(), s, visit)
	case field.Kind() == reflect.Struct && !decodesItself:
		for i := range field.NumField() {
			f := field.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "" { // inline
				eachField(path, f.Type, s, visit)
			} else if below, ok := s.Properties[name]; ok {
				eachField(path+"."+name, f.Type, &below, visit)
			}
		}
	case field.Kind() == reflect.Slice && s.Items != nil:
		eachField(path+"[]", field.Elem(), s.Items.Schema, visit)
	case field.Kind() == reflect.Map && s.AdditionalProperties != nil:
		eachField(path+"{}", field.Elem(), s.AdditionalProperties.Schema, visit)
	default:
		visit(path, field, s)
	}
}

// TestEndlessQuantitiesAreRefusedSoon: the API server's own rules must not begin to compute with them.
func TestEndlessQuantitiesAreRefusedSoon(t *testing.T) {
	unbounded := `{spec: {topology: {resources: {limits: {memory: 2Gi}}, parameters: {innodb_buffer_pool_size: "1e-99999999"}}}}`
	if err := dryRun(t, minimalWith(t, unbounded)); err != nil && strings.Contains(err.Error(), "imeout") { // the operator refuses it
		t.Fatalf("%s: %v", unbounded, err)
	}
	for _, patch := range []string{
		`{spec: {topology: {resources: {requests: {cpu: "1e-99999999"}}}}}`,
		`{spec: {topology: {resources: {limits: {memory: "1e2147483648"}}}}}`,
		`{spec: {topology: {storage: {size: "1e-99999999"}}}}`,
		`{spec: {topology: {storage: {medium: Memory, size: "1e-99999999"}}}}`,
		`{spec: {pods: {nodes: {resources: {requests: {memory: "1e-99999999"}}}}}}`,
	} {
		began := time.Now()
		err := dryRun(t, minimalWith(t, patch))
		if err == nil || !strings.Contains(err.Error(), "should match") {
			t.Errorf("%s: %v", patch, err)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Fatalf("%s is refused after %s", patch, took)
		}
	}
}
