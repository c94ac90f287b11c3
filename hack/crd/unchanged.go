package main

import (
	"regexp"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/utils/ptr"
)

// reads finds the fields that a rule of an object is about.
var reads = regexp.MustCompile(`\bself\.\??([a-zA-Z]+)`)

// ratchet has the rules of an object hold only for those who change something that the rule is about. The API server itself lets an
// object alone only while all of it is as it was: a rule that is new with an upgrade would refuse spec.abort to an experiment that
// was accepted before, and runs. Kubernetes 1.30 is the first that has optionalOldSelf without being asked for it.
func ratchet(object *apiextensionsv1.JSONSchemaProps) {
	for i := range object.XValidations {
		if r := &object.XValidations[i]; !strings.Contains(r.Rule, "oldSelf") {
			r.Rule = "(" + unchanged(object, r.Rule) + ") || (" + r.Rule + ")"
			r.OptionalOldSelf = ptr.To(true)
		}
	}
}

// unchanged is the expression that tells whether all fields that a rule reads are as they were. There is no old object when one is created.
func unchanged(object *apiextensionsv1.JSONSchemaProps, rule string) string {
	conditions := []string{"oldSelf.hasValue()"}
	var seen []string
	for _, match := range reads.FindAllStringSubmatch(rule, -1) {
		name := match[1]
		if slices.Contains(seen, name) {
			continue
		}
		seen = append(seen, name)
		now, before := "self."+name, "oldSelf.value()."+name
		same := now + " == " + before
		if !slices.Contains(object.Required, name) {
			same = "has(" + now + ") == has(" + before + ") && (!has(" + now + ") || " + same + ")"
		}
		conditions = append(conditions, same)
	}
	return strings.Join(conditions, " && ")
}
