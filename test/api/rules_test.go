package api_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// ruleCase breaks one CEL rule. Both patches are merge patches on minimal.
type ruleCase struct {
	name    string
	refused string
	// says is the beginning of the rule's message, enough of it to be no other rule's.
	says string
	// neighbour is the smallest change of refused that keeps the rule.
	neighbour string
	// unsupported neighbours keep this rule, and are refused by another one since this version cannot run them.
	unsupported bool
}

func TestWhatBreaksARuleIsRefusedWithItsRemedy(t *testing.T) {
	messages := ruleMessages(t)
	for _, c := range ruleCases {
		t.Run(c.name, func(t *testing.T) {
			i := slices.IndexFunc(messages, func(m string) bool { return strings.HasPrefix(m, c.says) })
			if i < 0 {
				t.Fatalf("no rule of the CRD says %q", c.says)
			}
			err := dryRun(t, experiment(t, c.refused))
			if err == nil || !strings.Contains(err.Error(), messages[i]) {
				t.Errorf("refusal = %v, want one that says %q", err, messages[i])
			}
			err = dryRun(t, experiment(t, c.neighbour))
			switch {
			case !c.unsupported && err != nil:
				t.Errorf("the neighbour is refused: %v", err)
			case c.unsupported && (err == nil || !strings.Contains(err.Error(), "is not supported by this version")):
				t.Errorf("refusal of the neighbour = %v, want one that says what is supported", err)
			case c.unsupported && strings.Contains(err.Error(), messages[i]):
				t.Errorf("the neighbour breaks the rule too: %v", err)
			}
		})
	}
}

func TestEveryRuleHasACase(t *testing.T) {
	for _, message := range ruleMessages(t) {
		if startedOnly.MatchString(message) {
			continue // TestSpecIsFixedOnceStarted, TestAbortIsFinalOnceStarted
		}
		if !slices.ContainsFunc(ruleCases, func(c ruleCase) bool { return strings.HasPrefix(message, c.says) }) {
			t.Errorf("no case breaks the rule %q: add one to ruleCases", message)
		}
	}
}

// namesField finds the beginning of a path of the API, such as "load.mix", "goals[]" or "faults[].node".
var namesField = regexp.MustCompile(`(^|[ ])(metadata|spec|topology|routing|app|dataset|load|faults|probes|goals|baseline|pods)(\.|\[\]| cannot| labels)`)

func TestEveryRuleNamesItsFieldAndARemedy(t *testing.T) {
	remedy := regexp.MustCompile(`: | needs | must `)
	for _, message := range ruleMessages(t) {
		if !namesField.MatchString(message) {
			t.Errorf("%q does not name the field", message)
		}
		if !remedy.MatchString(message) {
			t.Errorf("%q does not tell what to write instead", message)
		}
	}
}

// ruleMessages are the messages of all rules of the CRD.
func ruleMessages(t *testing.T) []string {
	t.Helper()
	var messages []string
	walk("", readCRD(t).Spec.Versions[0].Schema.OpenAPIV3Schema, func(_ string, field *apiextensionsv1.JSONSchemaProps) {
		for _, rule := range field.XValidations {
			messages = append(messages, rule.Message)
		}
	})
	if len(messages) == 0 {
		t.Fatal("the CRD has no rules")
	}
	return messages
}

// walk visits a schema and everything below it; the path of a list's items ends in [].
func walk(path string, field *apiextensionsv1.JSONSchemaProps, visit func(string, *apiextensionsv1.JSONSchemaProps)) {
	visit(path, field)
	for name := range field.Properties {
		below := field.Properties[name]
		walk(strings.TrimPrefix(path+"."+name, "."), &below, visit)
	}
	if field.Items != nil && field.Items.Schema != nil {
		walk(path+"[]", field.Items.Schema, visit)
	}
	if field.AdditionalProperties != nil && field.AdditionalProperties.Schema != nil {
		walk(path+"{}", field.AdditionalProperties.Schema, visit)
	}
}
