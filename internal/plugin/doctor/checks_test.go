package doctor

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func fit() Facts {
	return Facts{
		Version: "v1", CRD: true, Namespace: "here", DefaultClass: "standard", StorageClasses: []string{"standard"},
		Operators: []Operator{{Namespace: "replab-system", Pod: "replab-operator-0", Image: "replab:v1", Version: "v1", Ready: true}},
		Images:    []string{"mysql:9"}, Present: map[string]string{"mysql:9": "lab"},
		Optional:   map[string]bool{"testruns.k6.io": true, "postgresqls.acid.zalan.do": true, "servicemonitors.monitoring.coreos.com": true},
		ClockAhead: -2 * time.Millisecond, ClockWidth: time.Second, Nodes: []Node{{Name: "lab", FreeCPU: 3500}},
	}
}

func TestAClusterThatIsFit(t *testing.T) {
	var got []string
	for _, f := range Check(fit()) {
		got = append(got, fmt.Sprintf("%s %s: %s", f.Level, f.What, f.Text))
	}
	want := []string{
		"ok custom resource: ReplicationExperiments are known",
		"ok operator: pod replab-operator-0 in namespace replab-system, image replab:v1, of the plugin's version v1",
		"ok permissions: you may run, watch, end and read experiments in namespace here",
		"ok pod security: namespace here has no label that refuses pods of experiments",
		"ok storage: default storage class standard",
		"ok images: all 1 of the operator's images are on a node",
		"ok optional: patroni.provider ZalandoOperator: postgresqls.acid.zalan.do is there",
		"ok optional: monitors of the Prometheus operator: servicemonitors.monitoring.coreos.com is there",
		"ok optional: load.runner K6Operator: testruns.k6.io is there",
		"ok clock: the API server's clock differs from this machine's by 2ms, ± 1s",
		"ok free CPU: 3500 millicores are free of requests (nodes: 1)",
	}
	if diff := cmp.Diff(want, got); diff != "" || Unfit(Check(fit())) {
		t.Error("(-want +got):\n" + diff)
	}
}

func TestWhatEachCheckFinds(t *testing.T) {
	refused := errors.New("refused")
	for name, c := range map[string]struct {
		change func(*Facts)
		what   string
		level  Level
		text   string
	}{
		"no CRD":            {func(f *Facts) { f.CRD = false }, "custom resource", Bad, "install the chart with --set images.replab="},
		"another namespace": {func(f *Facts) { f.Operators[0].Watched = []string{"there"} }, "operator", Bad, "of namespace there only, not of here"},
		"another team's operator alone": {func(f *Facts) {
			f.Operators[0].Ready, f.Operators[0].Watched = false, []string{"here"}
			f.Operators = append(f.Operators, Operator{Ready: true, Watched: []string{"there"}})
		}, "operator", Bad, "of namespace there only, not of here"},
		"this namespace":     {func(f *Facts) { f.Operators[0].Watched = []string{"there", "here"} }, "operator", Fit, "version v1"},
		"a chart's version":  {func(f *Facts) { f.Operators[0].Version = "1" }, "operator", Fit, "of the plugin's version v1"},
		"no operator":        {func(f *Facts) { f.Operators = nil }, "operator", Bad, "no pod"},
		"operator not ready": {func(f *Facts) { f.Operators[0].Ready = false }, "operator", Bad, "is not ready"},
		"an upgrade that does not start": {func(f *Facts) {
			f.Operators = append(f.Operators, Operator{Namespace: "replab-system", Pod: "replab-operator-1"})
		}, "operator pod", Note, "pod replab-operator-1 is not ready beside another"},
		"baseline":              {func(f *Facts) { f.PodSecurity = "baseline" }, "pod security", Note, "namespace here enforces baseline and refuses Partition, links and DualPrimary"},
		"restricted":            {func(f *Facts) { f.PodSecurity = "restricted" }, "pod security", Note, "the Zalando operator's nodes"},
		"unreadable":            {func(f *Facts) { f.PodSecurityErr = refused }, "pod security", Note, "could not be checked: refused"},
		"another version":       {func(f *Facts) { f.Operators[0].Version = "v0" }, "operator", Note, "is version v0, the plugin v1"},
		"no version":            {func(f *Facts) { f.Operators[0].Version = "" }, "operator", Note, "version is unknown"},
		"no namespace":          {func(f *Facts) { f.NoNamespace, f.PodSecurityErr = true, refused }, "namespace", Bad, "there is no namespace here: name another with --namespace, or run"},
		"no suites":             {func(f *Facts) { f.DeniedUseful = []Denied{{[]string{"get a", "list a"}, "suites"}} }, "permissions", Note, "you may not get a, list a; needed for suites"},
		"not allowed":           {func(f *Facts) { f.Denied = []string{"get configmaps"} }, "permissions", Bad, "you may not get configmaps"},
		"no live figures":       {func(f *Facts) { f.DeniedUseful = []Denied{{[]string{"get services/proxy"}, "live figures"}} }, "permissions", Note, "you may not get services/proxy; needed for live figures"},
		"no default class":      {func(f *Facts) { f.DefaultClass = "" }, "storage", Note, "className to one of standard"},
		"no class":              {func(f *Facts) { f.DefaultClass, f.StorageClasses = "", nil }, "storage", Note, "medium to Node"},
		"image on no node":      {func(f *Facts) { f.Present = nil }, "images", Note, "1 of the operator's 1 images are on none of the listed nodes"},
		"optional part missing": {func(f *Facts) { f.Optional["testruns.k6.io"] = false; f.Optional["postgresqls.acid.zalan.do"] = false }, "optional", Note, "has no postgresqls"},
		"optional part unknown": {func(f *Facts) {
			f.OptionalErr = map[string]error{"postgresqls.acid.zalan.do": refused}
			delete(f.Optional, "postgresqls.acid.zalan.do")
		}, "optional", Note, "could not be checked: postgresqls.acid.zalan.do: refused"},
		"images unknown":      {func(f *Facts) { f.ImagesErr = errors.Join(refused, refused) }, "images", Note, "could not be checked: refused; refused"},
		"clocks differ":       {func(f *Facts) { f.ClockAhead = -7 * time.Second }, "clock", Note, "ages in the plugin are off"},
		"clocks may be equal": {func(f *Facts) { f.ClockAhead, f.ClockWidth = 7*time.Second, 3*time.Second }, "clock", Fit, "7s"},
		"hardly any CPU":      {func(f *Facts) { f.Nodes[0].FreeCPU = 499 }, "free CPU", Bad, "would wait"},
		"little CPU":          {func(f *Facts) { f.Nodes[0].FreeCPU = 500 }, "free CPU", Note, "shows in its figures"},
		"tainted":             {func(f *Facts) { f.Nodes[0].Tainted = true }, "free CPU", Note, "0 millicores are free of requests (nodes: 0), 3500 on tainted ones"},
		"tainted beside":      {func(f *Facts) { f.Nodes = append(f.Nodes, Node{FreeCPU: 9000, Tainted: true}) }, "free CPU", Fit, "3500 millicores are free of requests (nodes: 1)"},
		"overcommitted":       {func(f *Facts) { f.Nodes = append(f.Nodes, Node{FreeCPU: -3000}) }, "free CPU", Fit, "3500 millicores"},
	} {
		t.Run(name, func(t *testing.T) {
			facts := fit()
			c.change(&facts)
			for _, f := range Check(facts) {
				if f.What == c.what {
					if f.Level != c.level || !strings.Contains(f.Text, c.text) {
						t.Errorf("%+v, want %s with %q", f, c.level, c.text)
					}
					return
				}
			}
			t.Error("no such check")
		})
	}
}
