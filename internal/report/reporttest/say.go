package reporttest

import "reflect"

// Say appends a text to each string below a pointer, also to empty ones. Enums stay as they are.
func Say(of any, text string) { say(reflect.ValueOf(of), text) }

func say(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			say(v.Elem(), text)
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			if field.CanSet() {
				say(field, text)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			say(v.Index(i), text)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			value := reflect.New(v.Type().Elem()).Elem()
			value.Set(v.MapIndex(key))
			say(value, text)
			v.SetMapIndex(key, value)
		}
	case reflect.String:
		if v.Type() == reflect.TypeFor[string]() {
			v.SetString(v.String() + text)
		}
	}
}
