package charts_test

import "strings"

// strict turns what an API server says of its kinds into JSON schemas that refuse fields which are not in them.
func strict(schema any) {
	switch s := schema.(type) {
	case []any:
		for _, below := range s {
			strict(below)
		}
	case map[string]any:
		for _, below := range s {
			strict(below)
		}
		if _, ok := s["properties"].(map[string]any); ok && isSchema(s) && s["additionalProperties"] == nil && s["x-kubernetes-preserve-unknown-fields"] != true {
			s["additionalProperties"] = false
		}
		if s["format"] == "int-or-string" || s["x-kubernetes-int-or-string"] == true {
			delete(s, "type")
			delete(s, "anyOf")
			delete(s, "pattern") // as texts alone
			s["type"] = []any{"string", "integer"}
		}
		if s["format"] == "date-time" {
			s["type"] = []any{"string", "null"}
		}
		if _, ok := s["format"].(string); ok { // and no field of that name
			delete(s, "format")
		}
	}
}

// isSchema tells a schema of an object from a map of schemas with one for a field named properties.
func isSchema(s map[string]any) bool {
	kind, typed := s["type"]
	return !typed || kind == "object"
}

// reachable are the definitions that one refers to, itself among them.
func reachable(all map[string]any, definition any, name string) map[string]any {
	found := map[string]any{name: definition}
	var visit func(any)
	visit = func(value any) {
		switch v := value.(type) {
		case []any:
			for _, below := range v {
				visit(below)
			}
		case map[string]any:
			if ref, ok := v["$ref"].(string); ok {
				other := strings.TrimPrefix(ref, "#/definitions/")
				if _, known := found[other]; !known {
					found[other] = all[other]
					visit(all[other])
				}
			}
			for _, below := range v {
				visit(below)
			}
		}
	}
	visit(definition)
	return found
}
