// Package check finds what is wrong with an experiment or a suite before it is applied, without a cluster: what the API server would refuse, by the
// same CRD and with the same libraries, and what the operator would, by the same rules.
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
	"replab.dev/internal/plain"
	"replab.dev/internal/suite"
)

// Answer is what is wrong with an experiment or a suite.
type Answer struct {
	// Schema is what the API server would refuse.
	Schema field.ErrorList
	// Spec is what the operator would refuse. It is empty while the API server refuses the object.
	Spec field.ErrorList
	// Trials is what is wrong with a suite's trials, by variant, and with expectations that no trial measures.
	Trials []string
}

// Sentences are what people are told, one for each error.
func (a Answer) Sentences() []string {
	all := slices.Concat(validation.Sentences(a.Schema), validation.Sentences(a.Spec), a.Trials)
	for i, sentence := range all {
		all[i] = plain.Line(sentence) // keys and values of the object may have line breaks
	}
	return all
}

// Experiment checks one experiment. The error is for a CRD that cannot be read.
func Experiment(ctx context.Context, object *unstructured.Unstructured, servers validation.Servers) (Answer, error) {
	_, answer, err := experiment(ctx, object, servers)
	return answer, err
}

// experiment is also returned with its defaults, nil where the API server would refuse it.
func experiment(ctx context.Context, object *unstructured.Unstructured, servers validation.Servers) (*v1alpha1.ReplicationExperiment, Answer, error) {
	x := &v1alpha1.ReplicationExperiment{}
	errs, err := admitted(ctx, experiments, object, x)
	if err != nil || len(errs) > 0 {
		return nil, Answer{Schema: errs}, err
	}
	return x, Answer{Spec: validation.Experiment(x, servers)}, nil
}

// Suite checks a suite, and its trials: one of each variant, or with drawn faults one of each round.
func Suite(ctx context.Context, object *unstructured.Unstructured, servers validation.Servers) (Answer, error) {
	s := &v1alpha1.ReplicationSuite{}
	errs, err := admitted(ctx, suites, object, s)
	if err != nil || len(errs) > 0 {
		return Answer{Schema: errs}, err
	}
	if errs := validation.Suite(s, suite.Metric); len(errs) > 0 {
		return Answer{Spec: errs}, nil
	}
	s.UID = "unknown" // owners have one
	wrong, err := suite.Refused(s, func(run v1alpha1.TrialRun) (*v1alpha1.ReplicationExperiment, []string, error) {
		object, err := suite.Experiment(s, run)
		if err != nil {
			return nil, []string{err.Error()}, nil //nolint:nilerr // the patch cannot be applied: that is wrong with the trial
		}
		x, answer, err := experiment(ctx, object, servers)
		return x, answer.Sentences(), err
	})
	return Answer{Trials: wrong}, err
}

// admitted decodes an object as the API server stores it, or returns why the API server would refuse it.
func admitted(ctx context.Context, load func() (*definition, error), object *unstructured.Unstructured, into any) (field.ErrorList, error) {
	definition, err := load()
	if err != nil {
		return nil, err
	}
	object, err = decoded(object)
	if err != nil {
		return nil, err
	}
	if object.GetNamespace() == "" {
		object.SetNamespace("default")
	}
	if errs := definition.admit(ctx, object); len(errs) > 0 {
		return errs, nil
	}
	if why := validation.TooLong(object.Object["spec"]); why != "" {
		return field.ErrorList{{Type: field.ErrorTypeInvalid, Field: "spec", BadValue: field.OmitValueType{}, Detail: why}}, nil
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, into); err != nil {
		return nil, fmt.Errorf("decode %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	return nil, nil
}

// decoded is a copy of an object as the API server reads it: whole numbers are integers.
func decoded(object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	text, err := json.Marshal(object.Object)
	if err != nil {
		return nil, fmt.Errorf("encode %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	fresh := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(text, &fresh.Object); err != nil {
		return nil, fmt.Errorf("decode %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	return fresh, nil
}

// definition is the CRD in the forms in which the API server uses it.
type definition struct {
	schema *structural.Structural
	fields schemavalidation.SchemaValidator
	rules  *cel.Validator
}

// The CRDs are loaded once: compiling their rules takes longer than to check an experiment.
var (
	experiments = sync.OnceValues(func() (*definition, error) { return load(crd.File) })
	suites      = sync.OnceValues(func() (*definition, error) { return load(crd.Suites) })
)

func load(file []byte) (*definition, error) {
	parsed := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal(file, parsed); err != nil {
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
}

// admit does to an object what the API server does before it stores one: it refuses unknown fields, applies defaults, and checks the schema and its
// rules. The object has the defaults afterwards.
func (d *definition) admit(ctx context.Context, x *unstructured.Unstructured) (errs field.ErrorList) {
	unknown := pruning.PruneWithOptions(x.Object, d.schema, true, structural.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	for _, path := range unknown {
		errs = append(errs, wrong(path, "unknown field. Correct its name or place, or remove it."))
	}
	defaulting.PruneNonNullableNullsWithoutDefaults(x.Object, d.schema)
	defaulting.Default(x.Object, d.schema)
	errs = append(errs, metadata(apimachinery.ValidateObjectMetaAccessor(x, true, apimachinery.NameIsDNSSubdomain, field.NewPath("metadata")))...)
	errs = append(errs, inWords(schemavalidation.ValidateCustomResource(nil, x.Object, d.fields))...)
	for _, err := range listtype.ValidateListSetsAndMaps(nil, d.schema, x.Object) {
		errs = append(errs, wrong(err.Field, "Duplicate value. Keep one, or give it another name."))
	}
	if len(errs) > 0 {
		return errs // as the API server has it: rules would be read of fields that are not what they should be
	}
	failed, _ := d.rules.Validate(ctx, nil, d.schema, x.Object, nil, celconfig.RuntimeCELCostBudget)
	return append(errs, failed...)
}

// metadata has errors of names, labels and annotations in words that people know.
func metadata(errs field.ErrorList) (all field.ErrorList) {
	for _, err := range errs {
		regular := strings.Contains(err.Detail, " (e.g. ")
		switch {
		case err.Type == field.ErrorTypeRequired:
			err = wrong(err.Field, "Required value. Set it.")
		case err.Field == "metadata.name" && regular:
			err = wrong(err.Field, fmt.Sprintf("Invalid value: %q. Use lower-case letters, digits and '-', with a letter or digit first and last.", err.BadValue))
		case err.Type == field.ErrorTypeInvalid && regular:
			err = wrong(err.Field, fmt.Sprintf("Invalid value: %q. Use letters, digits, '-', '_' and '.', with a letter or digit first and last.", err.BadValue))
		case err.Type == field.ErrorTypeInvalid:
			err = wrong(err.Field, fmt.Sprintf("Invalid value: %q: %s. Correct the value.", err.BadValue, err.Detail))
		}
		all = append(all, err)
	}
	return all
}

// inWords has errors of the schema in words that people know: a type is called by its name in the schema, and each error has a field.
func inWords(errs field.ErrorList) (all field.ErrorList) {
	for _, err := range errs {
		again := len(all) > 0 && all[len(all)-1].Field == err.Field
		if err.Field == "<nil>" || err.Field == "" || again {
			continue // another error says it of the field
		}
		all = append(all, wrong(err.Field, detail(err)))
	}
	return all
}

// detail of an error of the schema, with what to do.
func detail(err *field.Error) string {
	if err.Type == field.ErrorTypeTypeInvalid {
		_, kind, _ := strings.Cut(err.Detail, "must be of type ")
		kind, got, _ := strings.Cut(kind, ":")
		if scalar := strings.Trim(got, ` "`); kind == "string" && (scalar == "integer" || scalar == "number" || scalar == "boolean") {
			return "must be of type string. Put the value in quotes."
		}
		return "must be of type " + types.Replace(kind) + ". Correct the value."
	}
	detail := strings.TrimPrefix(err.Detail, err.Field+" in body ")
	if pattern, ok := strings.CutPrefix(detail, "should match "); ok && patterns[strings.Trim(pattern, "'")] != "" {
		return "should match " + patterns[strings.Trim(pattern, "'")]
	}
	switch {
	case err.Type == field.ErrorTypeRequired:
		return "Required value. Set it."
	case err.Type == field.ErrorTypeNotSupported:
		said, list, _ := strings.Cut(err.ErrorBody(), ": supported values: ")
		return fmt.Sprintf("%s. Use %s.", said, near(fmt.Sprint(err.BadValue), list))
	case !strings.HasSuffix(detail, "."):
		detail += ". Correct the value."
	}
	return detail
}

var types = strings.NewReplacer(",", " or ", "int64", "integer", "int32", "integer", "float64", "number")

// patterns of the CRDs in words: what to write instead.
var patterns = map[string]string{
	`^[a-z]([-a-z0-9]*[a-z0-9])?$`:             "a name. Use lower-case letters, digits and '-', a letter first and no '-' last.",
	`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`:         "a name. Use lower-case letters, digits, '-' and '.', with a letter or digit first and last.",
	`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$`:      "a name. Use lower-case letters, digits, '-' and '.', with a letter or digit first and last.",
	`^[-._a-zA-Z0-9]+$`:                        "a key. Use letters, digits, '-', '_' and '.'.",
	`^[A-Za-z0-9][A-Za-z0-9_.-]*$`:             "a key. Use letters, digits, '-', '_' and '.', with a letter or digit first.",
	`^[A-Za-z_][A-Za-z0-9_]*$`:                 "a variable's name. Use letters, digits and '_', with no digit first.",
	`^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`: "a reason. Use letters, digits, '_', ',' and ':', with a letter first.",
	`^-?[0-9]{1,18}(\.[0-9]{1,6})?$`:           "a number. Use at most 18 digits, and at most 6 behind a point.",
	labelKey:                                   "a label's key. Use letters, digits, '-', '_' and '.', behind a domain and '/' if it has one.",
	quantity:                                   "a quantity. Use a number and a suffix, such as 500m for cpu, or 2G or 2Gi for bytes.",
}

const (
	labelKey = `^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$`
	quantity = `^[+-]?([0-9]{1,19}(\.[0-9]{0,19})?|\.[0-9]{1,19})([KMGTPE]i|[numkMGTPE]|[eE]-?[0-9]{1,2})?$`
)

// wrong is an error of which people are told the detail alone.
func wrong(path, detail string) *field.Error {
	return &field.Error{Type: field.ErrorTypeInvalid, Field: path, BadValue: field.OmitValueType{}, Detail: detail}
}

// near are the supported values to choose from: all of a few, and of many those that begin like the wrong one.
func near(value, list string) string {
	const few = 12
	all := strings.Split(list, ", ")
	if len(all) <= few {
		return "one of the supported values: " + list
	}
	all = slices.DeleteFunc(all, func(s string) bool { return !strings.HasPrefix(strings.Trim(s, `"`), value[:min(2, len(value))]) })
	if len(all) == 0 || len(all) > few {
		return "a value from docs/reference/api.md"
	}
	return strings.Join(all, " or ")
}
