package experiment

import (
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"replab.dev/api/v1alpha1"
)

// askedForAtOnce tests that an experiment that needs another operator is accepted only where that one's kind can be used, before anything is made.
// with is the experiment where the question for that operator's object is answered so; notServed and forbidden are what is said then.
func askedForAtOnce(t *testing.T, notServed, forbidden []string, with func(answer error) (*Run, *scene)) {
	t.Helper()
	for name, c := range map[string]struct {
		answer   error
		reason   string // "" where it goes on
		says     []string
		goesAway bool
	}{
		"not there":       {answer: &meta.NoKindMatchError{}, reason: v1alpha1.ReasonNotFound, says: notServed},
		"not allowed":     {answer: apierrors.NewForbidden(schema.GroupResource{}, "x", nil), reason: v1alpha1.ReasonSpecRefused, says: forbidden},
		"there":           {},
		"nobody can tell": {answer: errors.New("no connection"), goesAway: true},
	} {
		run, made := with(c.answer)
		out, err := accept(t.Context(), run)
		if (err != nil) != c.goesAway || out.Terminal != (c.reason != "") || out.Terminal && out.Reason != c.reason {
			t.Errorf("%s: %+v, %v", name, out, err)
		}
		for _, words := range c.says {
			if !strings.Contains(out.Message, words) {
				t.Errorf("%s: it says %q, want %q in it", name, out.Message, words)
			}
		}
		if len(made.objects) > 0 || run.Status.StartTime != nil {
			t.Errorf("%s: something was made for it", name)
		}
	}
}
