// Package decode reads single experiments that the API server has stored, also those that Go cannot decode: they fail alone, and the
// error names the field. A typed client fails for a whole list, and names none.
package decode

import (
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"replab.dev/api/v1alpha1"
)

// Error says which field cannot be decoded, where one is at fault, and why.
type Error struct {
	Field string
	Err   error
}

func (e *Error) Error() string {
	if e.Field == "" {
		return e.Err.Error()
	}
	return e.Field + ": " + e.Err.Error()
}

// Unwrap returns the decoder's error.
func (e *Error) Unwrap() error { return e.Err }

// Experiment reads an experiment as a typed client does, but refuses quantities that a typed client does not come to an end with. Its
// error is an *Error.
func Experiment(u *unstructured.Unstructured, x *v1alpha1.ReplicationExperiment) error {
	if err := experiment(u, x); err != nil {
		return &Error{fault(u), err}
	}
	return nil
}

func experiment(u *unstructured.Unstructured, x *v1alpha1.ReplicationExperiment) error {
	if endless(u.Object["spec"]) {
		return errors.New("a quantity has an exponent of more than two digits, or more than 64 characters")
	}
	text, err := json.Marshal(u.Object)
	if err != nil {
		return err
	}
	return utiljson.Unmarshal(text, x)
}

// large is the exponent of a quantity whose decoding takes minutes and gigabytes, such as 1e-99999999.
var large = regexp.MustCompile(`[eE][+-]?[0-9]{3,}$`)

// endless tells whether a spec has a quantity that is not to be decoded: quantities are sizes, limits and requests.
func endless(spec any) bool {
	below, _ := spec.(map[string]any)
	for name, value := range below {
		values, _ := value.(map[string]any)
		if name == "size" {
			values = map[string]any{name: value}
		}
		if name == "size" || name == "limits" || name == "requests" {
			for _, quantity := range values {
				if text, ok := quantity.(string); ok && (len(text) > 64 || large.MatchString(text)) {
					return true
				}
			}
		} else if endless(value) {
			return true
		}
	}
	return false
}

// fault is the path of the field without which the object can be decoded, empty where there are several. Errors of types that decode
// themselves name no field.
func fault(u *unstructured.Unstructured) string {
	whole, path := u.DeepCopy(), ""
	for at := whole.Object; at != nil; {
		next := ""
		for _, name := range slices.Sorted(maps.Keys(at)) {
			value := at[name]
			delete(at, name)
			err := experiment(whole, &v1alpha1.ReplicationExperiment{})
			at[name] = value
			if err == nil {
				next = name
				break
			}
		}
		if next == "" {
			break
		}
		if path != "" {
			path += "."
		}
		path += next
		at, _ = at[next].(map[string]any)
	}
	return path
}
