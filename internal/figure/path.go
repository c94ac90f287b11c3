package figure

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// keys name the items of lists, the first that an item has.
var keys = []string{"name", "metric", "node", "of"}

// At returns the number at a path of a struct with JSON tags; nil where its JSON has none. An item of a list is named in brackets by its
// name, metric or node, or by its place: load.stages[steady].requests.
func At(of any, path string) *int64 {
	here := indirect(at(of, path))
	if !here.IsValid() || !here.CanInt() {
		return nil
	}
	n := here.Int()
	return &n
}

// Strings returns the list of strings at a path, nil where there is none.
func Strings(of any, path string) (all []string) {
	here := at(of, path)
	if !here.IsValid() || here.Kind() != reflect.Slice || here.Type().Elem().Kind() != reflect.String {
		return nil
	}
	for i := range here.Len() {
		all = append(all, here.Index(i).String())
	}
	return all
}

func at(of any, path string) reflect.Value {
	here := reflect.ValueOf(of)
	for _, segment := range Segments(path) {
		if here = step(indirect(here), segment); !here.IsValid() {
			break
		}
	}
	return here
}

// Paths of all numbers that the JSON of a struct has, apart from those below the skipped paths. Numbers that stand in a list by themselves are none.
func Paths(of any, skip ...string) []string {
	return paths(nil, "", reflect.ValueOf(of), skip)
}

func paths(all []string, path string, here reflect.Value, skip []string) []string {
	here = indirect(here)
	if !here.IsValid() || slices.Contains(skip, path) {
		return all
	}
	switch {
	case here.Kind() == reflect.Struct:
		for _, f := range reflect.VisibleFields(here.Type()) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if next := step(here, name); name != "" && next.IsValid() {
				all = paths(all, strings.TrimPrefix(path+"."+name, "."), next, skip)
			}
		}
	case here.Kind() == reflect.Map && here.Type().Key().Kind() == reflect.String:
		for _, key := range here.MapKeys() {
			all = paths(all, path+"."+key.String(), here.MapIndex(key), skip)
		}
	case here.Kind() == reflect.Slice:
		for i := range here.Len() {
			if one := indirect(here.Index(i)); one.Kind() == reflect.Struct {
				all = paths(all, path+"["+nameOf(here, i)+"]", one, skip)
			}
		}
	case here.CanInt():
		all = append(all, path)
	}
	return all
}

// nameOf an item is the one by which it is found again: its name where no other has it, else its place.
func nameOf(list reflect.Value, i int) string {
	place := strconv.Itoa(i)
	for _, key := range keys {
		name := nameBy(list.Index(i), key)
		if name == "" {
			continue
		}
		for other := range list.Len() {
			if other != i && nameBy(list.Index(other), key) == name {
				return place
			}
		}
		return name
	}
	return place
}

// nameBy is the name that an item has in a field, "" where it has no such field.
func nameBy(one reflect.Value, key string) string {
	one = indirect(one)
	if one.Kind() != reflect.Struct {
		return ""
	}
	f, ok := fieldOf(one.Type(), key)
	if !ok || f.Type.Kind() != reflect.String {
		return ""
	}
	return one.FieldByIndex(f.Index).String()
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
			if err != nil || found.IsZero() && strings.HasSuffix(f.Tag.Get("json"), ",omitempty") {
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
			if nameBy(list.Index(i), key) == name {
				return indirect(list.Index(i))
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
