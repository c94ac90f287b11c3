package figure

import (
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// keys name the items of lists, the first that an item has. An item with from and to is named "from to to".
var keys = []string{"name", "metric", "node", "of", "from"}

// At returns the number at a path of a struct with JSON tags; nil where its JSON has none. An item of a list is named in brackets by its
// name, metric or node, or by its place: load.stages[steady].requests.
func At(of any, path string) *int64 {
	here := walk(reflect.ValueOf(of), path, false)
	if !here.CanInt() {
		return nil
	}
	n := here.Int()
	return &n
}

// Strings returns the list of strings at a path, nil where there is none.
func Strings(of any, path string) (all []string) {
	here := walk(reflect.ValueOf(of), path, false)
	if here.Kind() != reflect.Slice || here.Type().Elem().Kind() != reflect.String {
		return nil
	}
	for i := range here.Len() {
		all = append(all, here.Index(i).String())
	}
	return all
}

// Items are the names of the items of the list at a path, none where there is no list.
func Items(of any, path string) (names []string) {
	list := walk(reflect.ValueOf(of), path, false)
	if list.Kind() != reflect.Slice {
		return nil
	}
	for i := range list.Len() {
		names = append(names, nameOf(list, i))
	}
	return names
}

// IsField says whether a path may lead to a number of a type. The brackets of a list may be empty.
func IsField(of reflect.Type, path string) bool {
	return walk(reflect.New(of), path, true).CanInt()
}

// walk along a path. The possible value of a pointer, list or map is an empty one of its type.
func walk(here reflect.Value, path string, possible bool) reflect.Value {
	here = indirect(here, possible)
	for _, segment := range Segments(path) {
		here = indirect(step(here, segment, possible), possible)
	}
	return here
}

func step(here reflect.Value, segment string, possible bool) reflect.Value {
	switch kind := here.Kind(); {
	case kind == reflect.Struct:
		return fieldOf(here, segment, possible)
	case possible && (kind == reflect.Map || kind == reflect.Slice):
		return reflect.New(here.Type().Elem()).Elem()
	case kind == reflect.Map:
		return here.MapIndex(reflect.ValueOf(segment))
	case kind == reflect.Slice:
		return item(here, segment)
	}
	return reflect.Value{}
}

// known fields of structs: the metrics read many figures at each scrape.
var known sync.Map

func fieldsOf(t reflect.Type) []reflect.StructField {
	if fields, ok := known.Load(t); ok {
		return fields.([]reflect.StructField)
	}
	fields := reflect.VisibleFields(t)
	known.Store(t, fields)
	return fields
}

// fieldOf a struct by its name in JSON, invalid where JSON leaves it out.
func fieldOf(here reflect.Value, tag string, possible bool) reflect.Value {
	for _, f := range fieldsOf(here.Type()) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if tag == "" || name != tag {
			continue
		}
		if possible {
			return reflect.New(f.Type).Elem()
		}
		found, err := here.FieldByIndexErr(f.Index) // an embedded pointer may be nil
		if err != nil || found.IsZero() && options == "omitempty" {
			return reflect.Value{}
		}
		return found
	}
	return reflect.Value{}
}

// item of a list by its name, else by its place.
func item(list reflect.Value, name string) reflect.Value {
	for _, key := range keys {
		for i := range list.Len() {
			if nameBy(list.Index(i), key) == name {
				return list.Index(i)
			}
		}
	}
	if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < list.Len() {
		return list.Index(i)
	}
	return reflect.Value{}
}

// nameBy is the name that an item has in a field, "" where it has no such field.
func nameBy(one reflect.Value, key string) string {
	name := text(one, key)
	if to := text(one, "to"); key == "from" && name != "" && to != "" {
		name += " to " + to
	}
	return name
}

// text of a field, "" where there is no such text.
func text(one reflect.Value, field string) string {
	if one = indirect(one, false); one.Kind() == reflect.Struct {
		if f := fieldOf(one, field, false); f.Kind() == reflect.String {
			return f.String()
		}
	}
	return ""
}

func indirect(v reflect.Value, possible bool) reflect.Value {
	for v.Kind() == reflect.Pointer {
		if possible && v.IsNil() {
			v = reflect.New(v.Type().Elem())
		}
		v = v.Elem()
	}
	return v
}

// Paths of all numbers that the JSON of a struct has, apart from those below the skipped paths. Numbers that stand in a list by themselves are none.
func Paths(of any, skip ...string) []string {
	return paths(nil, "", reflect.ValueOf(of), skip)
}

func paths(all []string, path string, here reflect.Value, skip []string) []string {
	here = indirect(here, false)
	if slices.Contains(skip, path) {
		return all
	}
	switch {
	case here.Kind() == reflect.Struct:
		for _, f := range fieldsOf(here.Type()) {
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
				all = paths(all, strings.TrimPrefix(path+"."+name, "."), fieldOf(here, name, false), skip)
			}
		}
	case here.Kind() == reflect.Map && here.Type().Key().Kind() == reflect.String:
		for _, key := range here.MapKeys() {
			all = paths(all, path+"."+key.String(), here.MapIndex(key), skip)
		}
	case here.Kind() == reflect.Slice:
		for i := range here.Len() {
			if one := indirect(here.Index(i), false); one.Kind() == reflect.Struct {
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
	for _, key := range keys {
		name, same := nameBy(list.Index(i), key), 0
		for other := range list.Len() {
			if nameBy(list.Index(other), key) == name {
				same++
			}
		}
		switch {
		case name != "" && same == 1:
			return name
		case name != "":
			return strconv.Itoa(i)
		}
	}
	return strconv.Itoa(i)
}

var segment = regexp.MustCompile(`\[([^]]*)]?|[^.[]+`)

// Segments of a path: a.b[c].d is a, b, c and d. What is in brackets may have dots in it.
func Segments(path string) (all []string) {
	for _, m := range segment.FindAllStringSubmatch(path, -1) {
		if m[0][0] == '[' {
			m[0] = m[1]
		}
		all = append(all, m[0])
	}
	return all
}
