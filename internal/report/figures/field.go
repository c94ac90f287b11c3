package figures

import (
	"reflect"
	"strings"

	report "replab.dev/internal/results"
)

// NoSuch begins what a figure says of which no document can have any: its path is misspelt.
const NoSuch = "no document has such a figure: "

// isField tells whether a path may lead to a number of a document, by the types alone.
func isField(path string) bool { return leads(reflect.TypeFor[report.Results](), segments(path)) }

func leads(t reflect.Type, path []string) bool {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case len(path) == 0:
		return t.Kind() >= reflect.Int && t.Kind() <= reflect.Uint64
	case t.Kind() == reflect.Slice, t.Kind() == reflect.Map:
		return leads(t.Elem(), path[1:])
	case t.Kind() != reflect.Struct:
		return false
	}
	for _, f := range reflect.VisibleFields(t) {
		if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); tag == path[0] && tag != "" {
			return leads(f.Type, path[1:])
		}
	}
	return false
}
