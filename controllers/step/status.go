package step

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
)

// Limits of what a status says: a condition may have every error of a spec, and a reason is one of several.
const (
	MostOfCondition = 16000 // bytes
	MostOfReason    = 4000  // bytes
	// MostReasons is how many reasons, and how many notes, the CRDs take. A status with more would be refused, and the object would never end.
	MostReasons = 256
)

// Truncate keeps a text within so many bytes, and its characters whole.
func Truncate(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + " …"
}

// AtMost shortens reasons or notes to what the CRDs take. The last one then says where there are more.
func AtMost(all []string, more string) []string {
	if len(all) <= MostReasons {
		return all
	}
	return append(all[:MostReasons-1:MostReasons-1], more)
}

// Passed is the status of the condition of that name.
func Passed(verdict v1alpha1.Verdict) metav1.ConditionStatus {
	switch verdict {
	case v1alpha1.VerdictPassed:
		return metav1.ConditionTrue
	case v1alpha1.VerdictFailed:
		return metav1.ConditionFalse
	}
	return metav1.ConditionUnknown
}
