// Package doctor decides from what is known of a cluster whether it is fit for experiments. It is pure.
package doctor

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Level of a finding.
type Level string

// Levels: Bad keeps experiments from running, Note is what to know.
const (
	Fit  Level = "ok"
	Note Level = "note"
	Bad  Level = "BAD"
)

// Finding is what one check has found.
type Finding struct {
	Level Level
	What  string
	Text  string
}

// Operator is a pod of one.
type Operator struct {
	Namespace, Pod, Image string
	Version               string // empty if unknown
	Ready                 bool
	Watched               []string // the namespaces whose experiments it runs; empty for all, or if unknown
}

// Facts of a cluster. An Err says why a fact is missing.
type Facts struct {
	Version string // of the plugin

	CRD bool

	Operators    []Operator
	OperatorsErr error

	Namespace      string
	NoNamespace    bool   // the cluster has none of this name
	PodSecurity    string // the standard that the namespace's label enforces; empty if none
	PodSecurityErr error
	Denied         []string // missing rights that every command needs
	DeniedUseful   []Denied

	StorageClasses []string
	DefaultClass   string
	StorageErr     error

	Images    []string          // defaults of experiments; empty if the operator's configuration could not be read
	Present   map[string]string // of these, on which node
	ImagesErr error

	Optional    map[string]bool // other installed resources, by name
	OptionalErr map[string]error

	ClockAhead time.Duration // of the API server's clock before ours
	ClockWidth time.Duration // within which that is known
	ClockErr   error

	Nodes    []Node
	NodesErr error
}

// Denied are missing rights, and what needs them.
type Denied struct {
	Rights  []string
	Without string
}

// Node that takes pods.
type Node struct {
	Name    string
	FreeCPU int64 // millicores that no pod requests
	Tainted bool  // takes only pods that tolerate it
}

const (
	// clockMost is by how much clocks may differ. The plugin shows ages by its own clock and measures nothing by it.
	clockMost = 5 * time.Second
	// cpuLeast is what an experiment of three nodes requests, in millicores. With cpuMeasured its figures show no waiting.
	cpuLeast    = 500
	cpuMeasured = 2000
)

// Check everything.
func Check(f Facts) []Finding {
	all := append([]Finding{crd(f), operator(f)}, stuck(f)...)
	all = append(append(all, permissions(f)...), podSecurity(f))
	all = append(append(all, storage(f)), images(f)...)
	all = append(all, optional(f)...)
	return append(all, clock(f), cpu(f))
}

// Unfit is true if something keeps experiments from running.
func Unfit(all []Finding) bool {
	return slices.ContainsFunc(all, func(f Finding) bool { return f.Level == Bad })
}

func unknown(what string, err error) Finding {
	return Finding{Note, what, "could not be checked: " + strings.ReplaceAll(err.Error(), "\n", "; ")}
}

func crd(f Facts) Finding {
	const what = "custom resource"
	if !f.CRD {
		return Finding{Bad, what, "the cluster knows no ReplicationExperiments: install the chart with --set images.replab=REGISTRY/replab:TAG, or apply config/crd if crds.install is false"}
	}
	return Finding{Fit, what, "ReplicationExperiments are known"}
}

func operator(f Facts) Finding {
	const what = "operator"
	if f.OperatorsErr != nil {
		return unknown(what, f.OperatorsErr)
	}
	ready := slices.DeleteFunc(slices.Clone(f.Operators), func(o Operator) bool { return !o.Ready })
	switch {
	case len(f.Operators) == 0:
		return Finding{Bad, what, "it has no pod in the cluster: install it, or look at its Deployment's events"}
	case len(ready) == 0:
		return Finding{Bad, what, fmt.Sprintf("pod %s in namespace %s is not ready: see kubectl describe pod and kubectl logs", f.Operators[0].Pod, f.Operators[0].Namespace)}
	}
	var watched []string
	here := slices.IndexFunc(ready, func(o Operator) bool {
		watched = append(watched, o.Watched...)
		return len(o.Watched) == 0 || slices.Contains(o.Watched, f.Namespace)
	})
	if here < 0 {
		return Finding{Bad, what, fmt.Sprintf("it runs experiments of namespace %s only, not of %s: use --namespace, or add yours to the chart's watchNamespaces",
			strings.Join(watched, ", "), f.Namespace)}
	}
	o := ready[here]
	where := fmt.Sprintf("pod %s in namespace %s, image %s", o.Pod, o.Namespace, o.Image)
	switch strings.TrimPrefix(o.Version, "v") {
	case "":
		return Finding{Note, what, where + "; its version is unknown until it has judged an experiment"}
	case strings.TrimPrefix(f.Version, "v"): // a chart's has no v
		return Finding{Fit, what, where + ", of the plugin's version " + f.Version}
	}
	return Finding{Note, what, fmt.Sprintf("%s, is version %s, the plugin %s: use both from one release if something looks odd", where, o.Version, f.Version)}
}

// stuck operators wait beside one that is ready, as the new one of an upgrade that cannot start.
func stuck(f Facts) (all []Finding) {
	anyReady := slices.ContainsFunc(f.Operators, func(o Operator) bool { return o.Ready })
	for _, o := range f.Operators {
		if anyReady && !o.Ready {
			all = append(all, Finding{Note, "operator pod", fmt.Sprintf("pod %s is not ready beside another: see `kubectl describe pod %[1]s -n %s`", o.Pod, o.Namespace)})
		}
	}
	return all
}

// podSecurity tells of a standard that refuses NET_ADMIN, or of a namespace that is missing.
func podSecurity(f Facts) Finding {
	const what, where = "pod security", ": see docs/how-to/install.md#pod-security"
	switch {
	case f.NoNamespace:
		return Finding{Bad, "namespace", fmt.Sprintf("there is no namespace %s: name another with --namespace, or run `kubectl create namespace %[1]s`", f.Namespace)}
	case f.PodSecurityErr != nil:
		return unknown(what, f.PodSecurityErr)
	case f.PodSecurity == "restricted":
		return Finding{Note, what, fmt.Sprintf("namespace %s enforces restricted and refuses Partition, links, DualPrimary and the Zalando operator's nodes", f.Namespace) + where}
	case f.PodSecurity == "baseline":
		return Finding{Note, what, fmt.Sprintf("namespace %s enforces baseline and refuses Partition, links and DualPrimary", f.Namespace) + where}
	}
	return Finding{Fit, what, "namespace " + f.Namespace + " has no label that refuses pods of experiments"}
}

func permissions(f Facts) []Finding {
	const what = "permissions"
	if len(f.Denied) == 0 && len(f.DeniedUseful) == 0 {
		return []Finding{{Fit, what, "you may run, watch, end and read experiments in namespace " + f.Namespace}}
	}
	var all []Finding
	if len(f.Denied) > 0 {
		all = append(all, Finding{Bad, what, fmt.Sprintf("in namespace %s you may not %s: the role in docs/reference/kubectl-replab.md grants that", f.Namespace, strings.Join(f.Denied, ", "))})
	}
	for _, d := range f.DeniedUseful {
		all = append(all, Finding{Note, what, fmt.Sprintf("in namespace %s you may not %s; needed for %s", f.Namespace, strings.Join(d.Rights, ", "), d.Without)})
	}
	return all
}

func storage(f Facts) Finding {
	const what = "storage"
	switch {
	case f.StorageErr != nil:
		return unknown(what, f.StorageErr)
	case f.DefaultClass != "":
		return Finding{Fit, what, "default storage class " + f.DefaultClass}
	case len(f.StorageClasses) > 0:
		return Finding{Note, what, "no storage class is the default: set topology.storage.className to one of " + strings.Join(f.StorageClasses, ", ")}
	}
	return Finding{Note, what, "there is no storage class: set topology.storage.medium to Node or Memory in each experiment, or install one"}
}

func images(f Facts) []Finding {
	const what = "images"
	if f.ImagesErr != nil {
		return []Finding{unknown(what, f.ImagesErr)}
	}
	var missing []string
	for _, i := range f.Images {
		if f.Present[i] == "" {
			missing = append(missing, i)
		}
	}
	if len(missing) == 0 {
		return []Finding{{Fit, what, fmt.Sprintf("all %d of the operator's images are on a node", len(f.Images))}}
	}
	slices.Sort(missing)
	return []Finding{{Note, what, fmt.Sprintf("%d of the operator's %d images are on none of the listed nodes. They are pulled when an experiment needs them: %s",
		len(missing), len(f.Images), strings.Join(missing, ", "))}}
}

func clock(f Facts) Finding {
	const what = "clock"
	if f.ClockErr != nil {
		return unknown(what, f.ClockErr)
	}
	off := f.ClockAhead.Abs()
	words := fmt.Sprintf("the API server's clock differs from this machine's by %s, ± %s", off.Round(time.Millisecond), f.ClockWidth.Round(time.Millisecond))
	if off-f.ClockWidth > clockMost {
		return Finding{Note, what, words + ": ages in the plugin are off by that, figures are not"}
	}
	return Finding{Fit, what, words}
}

func cpu(f Facts) Finding {
	const what = "free CPU"
	if f.NodesErr != nil {
		return unknown(what, f.NodesErr)
	}
	var free, tolerated, nodes int64
	for _, n := range f.Nodes {
		if n.Tainted {
			tolerated += max(n.FreeCPU, 0)
			continue
		}
		nodes++
		free += max(n.FreeCPU, 0)
	}
	words := fmt.Sprintf("%d millicores are free of requests (nodes: %d)", free, nodes)
	if tolerated > 0 {
		words += fmt.Sprintf(", %d on tainted ones", tolerated)
	}
	switch {
	case free < cpuLeast && free+tolerated >= cpuLeast:
		return Finding{Note, what, words + ". An experiment of three nodes requests about 500: let spec.pods tolerate the taints, or its pods wait"}
	case free < cpuLeast:
		return Finding{Bad, what, words + ". An experiment of three nodes requests about 500: its pods would wait"}
	case free < cpuMeasured:
		return Finding{Note, what, words + ". An experiment runs, but other work on the machine shows in its figures"}
	}
	return Finding{Fit, what, words}
}

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
			all = append(all, Finding{Note, "optional", Optional[name] + " is unavailable: the cluster has no " + name})
		}
	}
	return all
}
