package prometheus

import (
	"strings"
	"testing"
)

// TestLostWritesAreShownWithBounds: a count that is only bounded has no metric of its own. Units that shorten would round a count.
func TestLostWritesAreShownWithBounds(t *testing.T) {
	found := 0
	for file, d := range dashboards(t) {
		for _, p := range d.Panels {
			exact, bounded := false, false
			for _, q := range p.Targets {
				exact = exact || strings.Contains(q.Expr, `set="lost"`)
				bounded = bounded || strings.Contains(q.Expr, `figure="writes.lost",bound="atLeast"`)
			}
			if !exact {
				continue
			}
			found++
			if !bounded {
				t.Errorf("%s: %s is empty where only a bound is known", file, p.Title)
			}
			if unit := p.unitOf("lost"); unit != "none" {
				t.Errorf("%s: %s shows counts with the unit %q", file, p.Title, unit)
			}
		}
	}
	if found != 2 {
		t.Errorf("%d panels show lost writes", found)
	}
}

// unitOf the column that a name begins, or of the whole panel.
func (p panel) unitOf(name string) string {
	for _, o := range p.FieldConfig.Overrides {
		if strings.HasPrefix(o.Matcher.Options, name) {
			return o.Properties[0].Value
		}
	}
	return p.FieldConfig.Defaults.Unit
}
