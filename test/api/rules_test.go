package api_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	crd "replab.dev/test/experiment"
)

// ruleCase breaks one CEL rule. Both patches are merge patches on minimal.
type ruleCase struct {
	name    string
	refused string
	// says is the beginning of the rule's message, enough of it to be no other rule's.
	says string
	// names is the item that the refusal names; any, where it is not given.
	names string
	// neighbour is the smallest change of refused that keeps the rule.
	neighbour string
	// unsupported neighbours keep this rule, and are refused by another one since this version cannot run them.
	unsupported bool
}

// rule is one CEL rule of the CRD: where its refusals point to, and what they say.
type rule struct {
	path    string // items of lists as []
	message string // names of items as [], numbers as N
	rule    string
}

// number is a number in a message.
var number = regexp.MustCompile(`\bN\b`)

// refusal matches what the API server answers: the field's path with the item's number, then the message with the item's name,
// any where none is given.
func (r rule) refusal(item string) *regexp.Regexp {
	path := strings.ReplaceAll(regexp.QuoteMeta(r.path), `\[\]`, `\[\d+\]`)
	if item == "" {
		item = `[A-Za-z0-9_-]+`
	}
	message := strings.ReplaceAll(regexp.QuoteMeta(r.message), `\[\]`, `\[`+item+`\]`)
	message = number.ReplaceAllString(message, `\d+`)
	return regexp.MustCompile(`(^|[\s\[])` + path + `: Invalid value: [^\n]*` + message)
}

// isRefusal tells whether an error is one by the rule that the case breaks.
func (c ruleCase) isRefusal(rules []rule, err error) bool {
	return err != nil && slices.ContainsFunc(rules, func(r rule) bool {
		return strings.HasPrefix(r.message, c.says) && r.refusal(c.names).MatchString(err.Error())
	})
}

func TestWhatBreaksARuleIsRefusedWithItsFieldAndRemedy(t *testing.T) {
	rules := allRules(t)
	for _, c := range ruleCases {
		t.Run(c.name, func(t *testing.T) {
			var broken []rule
			for _, r := range rules {
				if strings.HasPrefix(r.message, c.says) {
					broken = append(broken, r)
				}
			}
			if len(broken) == 0 {
				t.Fatalf("no rule of the CRD says %q", c.says)
			}
			if err := dryRun(t, minimalWith(t, c.refused)); !c.isRefusal(rules, err) {
				t.Errorf("refusal = %v, want one that names %s, item %q, and says %q", err, broken[0].path, c.names, broken[0].message)
			}
			err := dryRun(t, minimalWith(t, c.neighbour))
			switch {
			case !c.unsupported && err != nil:
				t.Errorf("the neighbour is refused: %v", err)
			case c.unsupported && (err == nil || !strings.Contains(err.Error(), "not supported by this version")):
				t.Errorf("refusal of the neighbour = %v, want one that says what is supported", err)
			case c.unsupported && c.isRefusal(rules, err):
				t.Errorf("the neighbour breaks the rule too: %v", err)
			}
		})
	}
}

func TestEveryRuleHasACase(t *testing.T) {
	for _, r := range allRules(t) {
		if startedOnly.MatchString(r.message) {
			continue // TestSpecIsFixedOnceStarted, TestAbortIsFinalOnceStarted
		}
		if !slices.ContainsFunc(ruleCases, func(c ruleCase) bool { return strings.HasPrefix(r.message, c.says) }) {
			t.Errorf("no case breaks the rule %q: add one to ruleCases", r.message)
		}
	}
}

// TestEveryRuleOfFaultsHasACaseThatTellsItemsApart: of several faults the refusal names the one that is wrong.
func TestEveryRuleOfFaultsHasACaseThatTellsItemsApart(t *testing.T) {
	for _, r := range allRules(t) {
		if r.path != "spec.faults" || startedOnly.MatchString(r.message) {
			continue // one of a single fault names its own
		}
		if !slices.ContainsFunc(ruleCases, func(c ruleCase) bool {
			faults, _, _ := unstructured.NestedSlice(minimalWith(t, c.refused).Object, "spec", "faults")
			return strings.HasPrefix(r.message, c.says) && c.names != "" && len(faults) > 1 && faults[0].(map[string]any)["name"] != c.names
		}) {
			t.Errorf("no case of %q has another fault first and says which one the refusal names", r.message)
		}
	}
}

// namesField finds the beginning of a path of the API, such as "load.mix", "goals[]" or "faults[].node".
var namesField = regexp.MustCompile(`(^|[ ])(metadata|spec|topology|routing|app|dataset|load|faults|probes|goals|baseline|pods|deadlineSeconds|image)(\.|\[\]| cannot| labels| annotations| nodeSelector| tolerations| imagePullSecrets| resources| securityContext| must| is not the name)`)

func TestEveryRuleNamesItsFieldAndARemedy(t *testing.T) {
	remedy := regexp.MustCompile(`: | needs | must `)
	for _, r := range allRules(t) {
		if !namesField.MatchString(r.message) {
			t.Errorf("%q does not name the field", r.message)
		}
		if !remedy.MatchString(r.message) {
			t.Errorf("%q does not tell what to write instead", r.message)
		}
	}
}

// TestRulesOfItemsNameTheItem: faults[].node in a message becomes faults[crash].node in a refusal.
func TestRulesOfItemsNameTheItem(t *testing.T) {
	crd.Walk("", readCRD(t).Spec.Versions[0].Schema.OpenAPIV3Schema, func(path string, field *apiextensionsv1.JSONSchemaProps) {
		for _, r := range field.XValidations {
			if strings.Contains(r.Message, "[]") && r.MessageExpression == "" {
				t.Errorf("%s: %q does not name the item: give it a messageExpression", path, r.Message)
			}
		}
	})
}

// allRules of the CRD.
func allRules(t *testing.T) []rule {
	t.Helper()
	var rules []rule
	crd.Walk("", readCRD(t).Spec.Versions[0].Schema.OpenAPIV3Schema, func(path string, field *apiextensionsv1.JSONSchemaProps) {
		for _, r := range field.XValidations {
			at := strings.TrimPrefix(path+r.FieldPath, ".")
			if at == "" {
				at = "<nil>" // the whole object: metadata has no schema that a path could lead into
			}
			rules = append(rules, rule{at, r.Message, r.Rule})
		}
	})
	if len(rules) == 0 {
		t.Fatal("the CRD has no rules")
	}
	return rules
}
