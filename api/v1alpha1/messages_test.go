package v1alpha1_test

import (
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"replab.dev/test/experiment"
)

// TestMessagesNameTheItemThatIsRefused: a rule refuses where list.exists(x, P), and its messageExpression finds the item by
// list.filter(x, P)[0]. Were the two predicates not the same, the message would name another item, or none be found.
func TestMessagesNameTheItemThatIsRefused(t *testing.T) {
	seen := 0
	experiment.Walk("", experiment.CRD(t).Spec.Versions[0].Schema.OpenAPIV3Schema, func(path string, field *apiextensionsv1.JSONSchemaProps) {
		for _, r := range field.XValidations {
			rule := oneLine(r.Rule)
			for _, c := range firstItems(oneLine(r.MessageExpression)) {
				seen++
				if !strings.Contains(rule, c.list+".exists("+c.variable+", "+c.predicate+")") && !strings.Contains(rule, c.list+".all("+c.variable+", !("+c.predicate+"))") {
					t.Errorf("%s: the message of %q names the first of %s for which\n  %s\nwhich the rule does not look for:\n  %s", path, r.Message, c.list, c.predicate, rule)
				}
			}
		}
	})
	if seen == 0 {
		t.Error("no messageExpression of the CRD looks for an item")
	}
}

// found is list.filter(variable, predicate)[0].
type found struct{ list, variable, predicate string }

// firstItems are the items that an expression looks for.
func firstItems(expression string) (all []found) {
	const filter = ".filter("
	for at := 0; ; {
		next := strings.Index(expression[at:], filter)
		if next < 0 {
			return all
		}
		list := expression[:at+next]
		list = list[strings.LastIndexAny(list, " ([!'+")+1:]
		at += next + len(filter)
		inside, rest := closed(expression[at:])
		if variable, predicate, ok := strings.Cut(inside, ", "); ok && strings.HasPrefix(rest, "[0]") {
			all = append(all, found{list, variable, predicate})
		}
	}
}

// closed cuts text behind an opening parenthesis at the one that closes it. Those in the strings of a rule come in pairs.
func closed(text string) (inside, rest string) {
	open := 1
	for i, c := range text {
		switch c {
		case '(':
			open++
		case ')':
			open--
		}
		if open == 0 {
			return text[:i], text[i+1:]
		}
	}
	return text, ""
}

// oneLine is an expression with single spaces.
func oneLine(expression string) string { return strings.Join(strings.Fields(expression), " ") }
