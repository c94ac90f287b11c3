package main

import "testing"

func TestRulesBoundQuantities(t *testing.T) {
	for rule, want := range map[string]string{
		"isQuantity(self.a[k]) || isQuantity(self.a[k] + 'i')":        "isQuantity(self.a[k].matches('[eE]...')?'0':self.a[k]) || isQuantity(self.a[k] + 'i')", // with an i it is none
		"!quantity(string(self.limits[k])).isLessThan(quantity('0'))": "!quantity(string(self.limits[k]).matches('[eE]...')?'0':string(self.limits[k])).isLessThan(quantity('0'))",
		"quantity(self.parameters[k]).isLessThan(quantity('1Gi'))":    "quantity(self.parameters[k].matches('[eE]...')?'0':self.parameters[k]).isLessThan(quantity('1Gi'))",
		"self.users > 0": "self.users > 0",
	} {
		got := bounded(rule)
		if got != want || bounded(got) != want {
			t.Errorf("%s becomes %s, and then %s; want %s", rule, got, bounded(got), want)
		}
	}
}
