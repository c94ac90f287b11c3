package plan

import (
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/pmezard/go-difflib/difflib"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"replab.dev/internal/kube"
	"replab.dev/internal/load"
	"replab.dev/internal/topology"
	"replab.dev/internal/wire"
	"replab.dev/test/experiment"
)

var update = flag.Bool("update", false, "write the golden files")

// whole is the experiment whose plan is kept as it is. Of the others, what differs from it is kept.
const whole = "semisync"

// TestGolden holds on to every object of the experiments that people apply. Run with -update after a wanted change.
func TestGolden(t *testing.T) {
	base := planned(t, whole)
	golden(t, whole+".yaml", text(base))
	for _, name := range []string{"single", "async", "async-loss", "semisync-degraded", "semisync-distance", "semisync-proxysql", "mariadb-async", "mariadb-semisync", "mariadb-async-loss", "dual-primary", "galera", "galera-all-writers", "galera-mysql", "postgres-single", "postgres-async", "patroni-quorum", "patroni-zalando", "k6-operator"} {
		golden(t, name+".diff", changes(t, base, planned(t, name)))
	}
}

// golden compares with a file of testdata, which -update writes.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the plan differs from %s: look at the difference, and run with -update when it is wanted\n%s", file, unified(t, string(want), got))
	}
}

// object is one of a plan: what it is, and its YAML.
type object struct{ key, yaml string }

// planned renders the plan of an experiment, given the name of the whole one, so that names do not count as differences.
func planned(t *testing.T, name string) []object {
	t.Helper()
	x := experiment.Load(t, name)
	x.Name = whole
	p := build(t, x)
	audit, job, err := Audit(input(x), topology.State{Nodes: []topology.NodeState{{Name: x.Name + "-db-0", Role: wire.RoleWriter}}})
	if err != nil {
		t.Fatal(err)
	}
	objects := append(append(slices.Clone(p.Deploy), p.Seed), p.Load...)
	var all []object
	for _, o := range append(append(objects, audit...), job) {
		all = append(all, rendered(t, o))
	}
	return all
}

func rendered(t *testing.T, o kube.Object) object {
	t.Helper()
	if m, ok := o.(*corev1.ConfigMap); ok { // the script has tests of its own
		for _, file := range []string{load.ScriptFile, load.WrapperFile} {
			if _, ok := m.Data[file]; ok {
				m.Data[file] = "(see internal/load/k6)"
			}
		}
	}
	y, err := yaml.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return object{key: reflect.TypeOf(o).Elem().Name() + " " + o.GetName(), yaml: string(y)}
}

func text(objects []object) string {
	var out strings.Builder
	for _, o := range objects {
		out.WriteString("--- # " + o.key + "\n" + o.yaml)
	}
	return out.String()
}

// changes tells how a plan differs from the base: which objects there are, in their order, then each that both have and
// each that is new. With the base it tells the whole plan, so whatever changes in the plan changes this or the base.
func changes(t *testing.T, base, other []object) string {
	t.Helper()
	var out strings.Builder
	section := func(name, was, is string) {
		if was != is {
			out.WriteString("=== " + name + "\n" + unified(t, was, is))
		}
	}
	section("objects", keys(base), keys(other))
	for _, o := range other {
		was := ""
		if i := slices.IndexFunc(base, func(b object) bool { return b.key == o.key }); i >= 0 {
			was = base[i].yaml
		}
		section(o.key, was, o.yaml)
	}
	return out.String()
}

func keys(objects []object) string {
	var out strings.Builder
	for _, o := range objects {
		out.WriteString(o.key + "\n")
	}
	return out.String()
}

// unified is a difference as `diff -u` prints it.
func unified(t *testing.T, was, is string) string {
	t.Helper()
	d, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{A: lines(was), B: lines(is), Context: 2})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// lines keeps each line's end.
func lines(text string) []string {
	all := strings.SplitAfter(text, "\n")
	return all[:len(all)-1] // what follows the last line's end: nothing
}
