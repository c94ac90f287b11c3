package doctor

import (
	"fmt"
	"slices"
)

// Optional parts by the resources that they bring.
var Optional = map[string]string{
	"postgresqls.acid.zalan.do":             "patroni.provider ZalandoOperator",
	"testruns.k6.io":                        "load.runner K6Operator",
	"servicemonitors.monitoring.coreos.com": "monitors of the Prometheus operator",
}

func optional(f Facts) (all []Finding) {
	var names []string
	for name := range Optional {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		err := f.OptionalErr[name]
		switch {
		case err != nil:
			all = append(all, unknown("optional", fmt.Errorf("%s: %w", name, err)))
		case f.Optional[name]:
			all = append(all, Finding{Fit, "optional", Optional[name] + ": " + name + " is there"})
		default:
			all = append(all, Finding{Note, "optional", Optional[name] + " cannot be had: the cluster has no " + name})
		}
	}
	return all
}
