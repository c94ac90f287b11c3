package figure

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// keys name the items of lists, the first that an item has.
var keys = []string{"name", "metric", "node", "of"}

// At returns the number at a path of a struct with JSON tags; nil where there is none. An item of a list is named in brackets by its
// name, metric or node, or by its place: load.stages[steady].requests.
func At(of any, path string) *int64 {
	here := reflect.ValueOf(of)
	for _, segment := range Segments(path) {
		here = step(indirect(here), segment)
		if !here.IsValid() {
			return nil
		}
	}
	here = indirect(here)
	if !here.IsValid() || !here.CanInt() {
		return nil
	}
	n := here.Int()
	return &n
}

// IsField tells whether a path may lead to a number of a type. The brackets of a list may be empty.
func IsField(of reflect.Type, path string) bool {
	for _, segment := range Segments(path) {
		for of.Kind() == reflect.Pointer {
			of = of.Elem()
		}
		switch of.Kind() {
		case reflect.Slice, reflect.Map:
			of = of.Elem()
		case reflect.Struct:
			f, ok := fieldOf(of, segment)
			if !ok {
				return false
			}
			of = f.Type
		default:
			return false
		}
	}
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	return of.Kind() >= reflect.Int && of.Kind() <= reflect.Uint64
}

// Segments of a path: a.b[c].d is a, b, c and d. What is in brackets may have dots in it.
func Segments(path string) []string {
	var all []string
	for path != "" {
		end := strings.IndexAny(path, ".[")
		if path[0] == '[' {
			if end = strings.IndexByte(path, ']'); end < 0 {
				return append(all, path[1:])
			}
			all, path = append(all, path[1:end]), strings.TrimPrefix(path[end+1:], ".")
			continue
		}
		if end < 0 {
			return append(all, path)
		}
		all = append(all, path[:end])
		path = strings.TrimPrefix(path[end:], ".")
	}
	return all
}

func step(here reflect.Value, segment string) reflect.Value {
	switch here.Kind() {
	case reflect.Struct:
		if f, ok := fieldOf(here.Type(), segment); ok {
			found, err := here.FieldByIndexErr(f.Index) // an embedded pointer may be nil
			if err != nil {
				return reflect.Value{}
			}
			return found
		}
	case reflect.Map:
		return here.MapIndex(reflect.ValueOf(segment))
	case reflect.Slice:
		return item(here, segment)
	}
	return reflect.Value{}
}

// item of a list by its name, else by its place.
func item(list reflect.Value, name string) reflect.Value {
	for _, key := range keys {
		for i := range list.Len() {
			one := indirect(list.Index(i))
			if one.Kind() != reflect.Struct {
				break
			}
			if f, ok := fieldOf(one.Type(), key); ok && f.Type.Kind() == reflect.String && one.FieldByIndex(f.Index).String() == name {
				return one
			}
		}
	}
	if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < list.Len() {
		return list.Index(i)
	}
	return reflect.Value{}
}

func fieldOf(t reflect.Type, tag string) (reflect.StructField, bool) {
	fields := reflect.VisibleFields(t)
	i := slices.IndexFunc(fields, func(f reflect.StructField) bool {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		return tag != "" && name == tag
	})
	if i < 0 {
		return reflect.StructField{}, false
	}
	return fields[i], true
}

func indirect(v reflect.Value) reflect.Value {
	for v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	return v
}
