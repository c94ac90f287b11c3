// Package check finds what is wrong with an experiment before it is applied, without a cluster: what the API server would refuse, by the same CRD
// and with the same libraries, and what the operator would, by the same rules.
package check

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	schemavalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	apimachinery "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"

	"replab.dev/api/v1alpha1"
	"replab.dev/api/v1alpha1/validation"
	crd "replab.dev/config/crd"
)

// Answer is what is wrong with an experiment.
type Answer struct {
	// Schema is what the API server would refuse.
	Schema field.ErrorList
	// Spec is what the operator would refuse. It is empty while the API server refuses the object.
	Spec field.ErrorList
}

// Sentences are what people are told, one for each error.
func (a Answer) Sentences() []string {
	return append(validation.Sentences(a.Schema), validation.Sentences(a.Spec)...)
}

// Experiment checks one experiment. The error is for a CRD that cannot be read.
func Experiment(ctx context.Context, object *unstructured.Unstructured, servers validation.Servers) (Answer, error) {
	definition, err := load()
	if err != nil {
		return Answer{}, err
	}
	object, err = decoded(object)
	if err != nil {
		return Answer{}, err
	}
	if object.GetNamespace() == "" {
		object.SetNamespace("default")
	}
	if errs := definition.admit(ctx, object); len(errs) > 0 {
		return Answer{Schema: errs}, nil
	}
	x := &v1alpha1.ReplicationExperiment{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, x); err != nil {
		return Answer{}, fmt.Errorf("decode experiment %s: %w", object.GetName(), err)
	}
	return Answer{Spec: validation.Experiment(x, servers)}, nil
}

// decoded is a copy of an object as the API server reads it: whole numbers are integers.
func decoded(object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	text, err := json.Marshal(object.Object)
	if err != nil {
		return nil, fmt.Errorf("encode experiment %s: %w", object.GetName(), err)
	}
	fresh := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(text, &fresh.Object); err != nil {
		return nil, fmt.Errorf("decode experiment %s: %w", object.GetName(), err)
	}
	return fresh, nil
}

// definition is the CRD in the forms in which the API server uses it.
type definition struct {
	schema *structural.Structural
	fields schemavalidation.SchemaValidator
	rules  *cel.Validator
}

// load the CRD once: compiling its rules takes longer than to check an experiment.
var load = sync.OnceValues(func() (*definition, error) {
	parsed := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal(crd.File, parsed); err != nil {
		return nil, fmt.Errorf("parse the CRD: %w", err)
	}
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(parsed.Spec.Versions[0].Schema.OpenAPIV3Schema, &internal, nil); err != nil {
		return nil, fmt.Errorf("convert the CRD: %w", err)
	}
	schema, err := structural.NewStructural(&internal)
	if err != nil {
		return nil, fmt.Errorf("read the CRD's schema: %w", err)
	}
	fields, _, err := schemavalidation.NewSchemaValidator(&internal)
	if err != nil {
		return nil, fmt.Errorf("make a validator of the CRD's schema: %w", err)
	}
	return &definition{schema, fields, cel.NewValidator(schema, true, celconfig.PerCallLimit)}, nil
})

// admit does to an object what the API server does before it stores one: it refuses unknown fields, applies defaults, and checks the schema and its
// rules. The object has the defaults afterwards.
func (d *definition) admit(ctx context.Context, x *unstructured.Unstructured) (errs field.ErrorList) {
	unknown := pruning.PruneWithOptions(x.Object, d.schema, true, structural.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	for _, path := range unknown {
		errs = append(errs, wrong(path, "unknown field. Correct its name or place, or remove it."))
	}
	defaulting.PruneNonNullableNullsWithoutDefaults(x.Object, d.schema)
	defaulting.Default(x.Object, d.schema)
	errs = append(errs, apimachinery.ValidateObjectMetaAccessor(x, true, apimachinery.NameIsDNSSubdomain, field.NewPath("metadata"))...)
	errs = append(errs, plain(schemavalidation.ValidateCustomResource(nil, x.Object, d.fields))...)
	for _, err := range listtype.ValidateListSetsAndMaps(nil, d.schema, x.Object) {
		errs = append(errs, wrong(err.Field, "Duplicate value. Keep one, or give it another name."))
	}
	if len(errs) > 0 {
		return errs // as the API server has it: rules would be read of fields that are not what they should be
	}
	failed, _ := d.rules.Validate(ctx, nil, d.schema, x.Object, nil, celconfig.RuntimeCELCostBudget)
	return append(errs, failed...)
}

// plain has errors of the schema in words that people know: a type is called by its name in the schema, and each error has a field.
func plain(errs field.ErrorList) (all field.ErrorList) {
	for _, err := range errs {
		again := len(all) > 0 && all[len(all)-1].Field == err.Field
		if err.Field == "<nil>" || err.Field == "" || again {
			continue // another error says it of the field
		}
		if err.Type == field.ErrorTypeTypeInvalid {
			_, kind, _ := strings.Cut(err.Detail, "must be of type ")
			kind, _, _ = strings.Cut(kind, ":")
			kind = strings.NewReplacer(",", " or ", "int64", "integer", "int32", "integer", "float64", "number").Replace(kind)
			err.Detail = "must be of type " + kind
		}
		detail := strings.TrimPrefix(err.Detail, err.Field+" in body ")
		switch {
		case strings.HasPrefix(detail, "should match '^[+-]?(["):
			detail = "should match a quantity. Use a number and a suffix, such as 500m for cpu, or 2G or 2Gi for bytes."
		case err.Type == field.ErrorTypeNotSupported:
			said, list, _ := strings.Cut(err.ErrorBody(), ": supported values: ")
			detail = fmt.Sprintf("%s. Use one of the supported values: %s.", said, near(fmt.Sprint(err.BadValue), list))
		case !strings.HasSuffix(detail, "."):
			detail += ". Correct the value."
		}
		if err.Type != field.ErrorTypeRequired {
			err = wrong(err.Field, detail)
		}
		all = append(all, err)
	}
	return all
}

// wrong is an error of which people are told the detail alone.
func wrong(path, detail string) *field.Error {
	return &field.Error{Type: field.ErrorTypeInvalid, Field: path, BadValue: field.OmitValueType{}, Detail: detail}
}

// near are the supported values: all of a few, and of many those that begin like the wrong one.
func near(value, list string) string {
	const few = 12
	all := strings.Split(list, ", ")
	if len(all) <= few {
		return list
	}
	all = slices.DeleteFunc(all, func(s string) bool { return !strings.HasPrefix(strings.Trim(s, `"`), value[:min(2, len(value))]) })
	if len(all) == 0 || len(all) > few {
		return "those in docs/api.md"
	}
	return strings.Join(all, ", ")
}
