package main

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// TestARuleLooksAtWhatIsChanged: all that it reads must be as it was, and nothing else.
func TestARuleLooksAtWhatIsChanged(t *testing.T) {
	for rule, want := range map[string]string{
		"self.load.a == 1": "(oldSelf.hasValue() && self.load == oldSelf.value().load) || (self.load.a == 1)",
		"!has(self.faults) || self.faults.all(f, f.node < self.load.a)": "(oldSelf.hasValue() && has(self.faults) == has(oldSelf.value().faults) && (!has(self.faults) || self.faults == oldSelf.value().faults)" +
			" && self.load == oldSelf.value().load) || (!has(self.faults) || self.faults.all(f, f.node < self.load.a))",
		"self.?faults.orValue([]) == []": "(oldSelf.hasValue() && has(self.faults) == has(oldSelf.value().faults) && (!has(self.faults) || self.faults == oldSelf.value().faults))" +
			" || (self.?faults.orValue([]) == [])",
		"self.load == oldSelf.load": "self.load == oldSelf.load", // says itself what it is about
	} {
		object := apiextensionsv1.JSONSchemaProps{
			Required:     []string{"load"},
			XValidations: apiextensionsv1.ValidationRules{{Rule: rule}},
		}
		ratchet(&object)
		got := object.XValidations[0]
		if got.Rule != want || (got.OptionalOldSelf != nil) != (want != rule) {
			t.Errorf("%s becomes %s, optionalOldSelf %v, want %s", rule, got.Rule, got.OptionalOldSelf, want)
		}
	}
}
