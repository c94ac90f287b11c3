package main

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var notInAnchor = regexp.MustCompile(`[^a-z0-9-]`)

// typeOf names a field's type; objects that have a section of their own are links to it.
func typeOf(path string, field *schema) string {
	if link, ok := foreign[path]; ok {
		return link
	}
	switch {
	case field.XIntOrString:
		return "quantity"
	case field.Type == "array" && field.Items != nil && field.Items.Schema != nil:
		return "list of " + typeOf(path+"[]", field.Items.Schema)
	case len(field.Properties) > 0:
		return fmt.Sprintf("[object](#%s)", notInAnchor.ReplaceAllString(strings.ToLower(path), ""))
	case field.Type == "object" && field.AdditionalProperties != nil && field.AdditionalProperties.Schema != nil:
		return "map of " + typeOf(path+"{}", field.AdditionalProperties.Schema)
	case field.Format == "date-time":
		return "time"
	}
	return field.Type
}

// defaultOf is what an absent field becomes: a value, nothing, or a refusal.
func defaultOf(parent *schema, name string) string {
	if slices.Contains(parent.Required, name) {
		return "required"
	}
	field := parent.Properties[name]
	if field.Default == nil || string(field.Default.Raw) == "{}" {
		return ""
	}
	return "`" + strings.Trim(string(field.Default.Raw), `"`) + "`"
}

// limits states the schema's own bounds in words.
func limits(field *schema) string {
	var parts []string
	if len(field.Enum) > 0 {
		values := make([]string, len(field.Enum))
		for i, v := range field.Enum {
			values[i] = "`" + strings.Trim(string(v.Raw), `"`) + "`"
		}
		parts = append(parts, strings.Join(values, ", "))
	}
	parts = appendRange(parts, number(field.Minimum), number(field.Maximum), "")
	parts = appendRange(parts, count(field.MinLength), count(field.MaxLength), " characters")
	parts = appendRange(parts, count(field.MinItems), count(field.MaxItems), " items")
	parts = appendRange(parts, count(field.MinProperties), count(field.MaxProperties), " entries")
	if field.Pattern != "" && !field.XIntOrString {
		parts = append(parts, "matches `"+field.Pattern+"`")
	}
	if field.Items != nil && field.Items.Schema != nil && len(field.Items.Schema.Properties) == 0 {
		if each := limits(field.Items.Schema); each != "" {
			parts = append(parts, "each "+each)
		}
	}
	return strings.Join(parts, "; ")
}

func appendRange(parts []string, least, most, unit string) []string {
	switch {
	case least != "" && most != "":
		return append(parts, least+" to "+most+unit)
	case least != "":
		return append(parts, "at least "+least+unit)
	case most != "":
		return append(parts, "at most "+most+unit)
	}
	return parts
}

func number(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'f', -1, 64)
}

func count(v *int64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatInt(*v, 10)
}

// prose joins the lines of a comment; an empty line stays a paragraph's end.
func prose(description string) string {
	paragraphs := strings.Split(strings.TrimSpace(description), "\n\n")
	for i, p := range paragraphs {
		paragraphs[i] = strings.Join(strings.Fields(p), " ")
	}
	return strings.Join(paragraphs, "\n\n")
}

// cell makes a text fit for one cell of a table.
func cell(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\n\n", " "), "|", `\|`)
}
