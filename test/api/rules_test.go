package api_test

import (
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"replab.dev/api/v1alpha1"
	"replab.dev/api/v1alpha1/validation"
	"replab.dev/internal/check"
	mariadb "replab.dev/internal/engine/mariadb/parameters"
	mysql "replab.dev/internal/engine/mysql/parameters"
	postgres "replab.dev/internal/engine/postgres/parameters"
	crd "replab.dev/test/experiment"
	"replab.dev/test/specs"
)

// Bounds of the rules in the CRD: what is longer, or joins fields, is Go.
const (
	longestRule = 300
	mostRules   = 45
)

// rule is one CEL rule of the CRD.
type rule struct{ path, message, rule string }

// allRules of the CRD.
func allRules(t *testing.T) []rule {
	t.Helper()
	var rules []rule
	crd.Walk("", readCRD(t).Spec.Versions[0].Schema.OpenAPIV3Schema, func(path string, field *apiextensionsv1.JSONSchemaProps) {
		for _, r := range field.XValidations {
			rules = append(rules, rule{strings.TrimPrefix(path+r.FieldPath, "."), r.Message, r.Rule})
		}
	})
	if len(rules) == 0 {
		t.Fatal("the CRD has no rules")
	}
	return rules
}

var servers = validation.Servers{v1alpha1.EngineMySQL: mysql.Rules{}, v1alpha1.EngineMariaDB: mariadb.Rules{}, v1alpha1.EnginePostgreSQL: postgres.Rules{}}

func checked(t *testing.T, object *unstructured.Unstructured) check.Answer {
	t.Helper()
	answer, err := check.Experiment(t.Context(), object, servers)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// TestCheckAnswersLikeTheAPIServer: what is refused, and every sentence.
func TestCheckAnswersLikeTheAPIServer(t *testing.T) {
	patches := map[string]string{}
	for _, c := range specs.Cases {
		patches[c.Name], patches["neighbour of "+c.Name] = c.Refused, c.Neighbour
	}
	for name, patch := range specs.Accepted {
		patches[name] = patch
	}
	for name, c := range specs.Malformed {
		patches[name] = c.Patch
	}
	for name, patch := range patches {
		t.Run(name, func(t *testing.T) {
			answer, err := checked(t, minimalWith(t, patch)), dryRun(t, minimalWith(t, patch))
			if (err != nil) != (len(answer.Schema) > 0) {
				t.Fatalf("check says %q, the API server %v", answer.Sentences(), err)
			}
			for _, wrong := range answer.Schema {
				detail := wrong.Detail
				for _, remedy := range []string{". Correct the value", ". Put the value in quotes", ". Keep one", ". Use ", ". Set it"} {
					detail, _, _ = strings.Cut(detail, remedy)
				}
				if strings.HasPrefix(detail, "should match ") { // check has words for the expression
					detail = "should match"
				}
				if strings.HasPrefix(detail, "unknown field") {
					detail = "unknown field \"" + wrong.Field + "\""
				}
				if !strings.Contains(err.Error(), detail) || !strings.Contains(err.Error(), wrong.Field) {
					t.Errorf("check says %q, the API server %v", wrong.Error(), err)
				}
			}
		})
	}
}

func TestEveryRuleHasACase(t *testing.T) {
	var refusals []string
	for _, c := range specs.Cases {
		refusals = append(refusals, checked(t, minimalWith(t, c.Refused)).Sentences()...)
	}
	all := strings.Join(refusals, "\n")
	for _, r := range allRules(t) {
		if !startedOnly.MatchString(r.message) && !strings.Contains(all, r.message) {
			t.Errorf("no case breaks the rule %q: add one to test/specs", r.message)
		}
	}
}

// TestRulesAreShort, few, and say in at most 25 words what to write instead.
func TestRulesAreShort(t *testing.T) {
	distinct := map[string]bool{}
	for _, r := range allRules(t) {
		distinct[r.rule] = true
		if len(r.rule) > longestRule {
			t.Errorf("%s: a rule of %d characters, want at most %d: write it as Go, in api/v1alpha1/validation", r.path, len(r.rule), longestRule)
		}
		if words := len(strings.Fields(r.message)); words > 25 {
			t.Errorf("%s: %d words: %s", r.path, words, r.message)
		}
	}
	if len(distinct) > mostRules {
		t.Errorf("%d rules, want at most %d", len(distinct), mostRules)
	}
}
