// Package bins compiles binaries from Go modules. Each has its own
// go.mod below hack/local, which pins the versions of what is in it.
package bins

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"replab.dev/hack/local/internal/layout"
	"replab.dev/hack/local/internal/say"
)

// Binary is one thing to compile.
type Binary struct {
	// Name is of the file in the bin folder and of the folder below hack/local.
	Name string
	// Folder is that folder where several binaries are of one.
	Folder string
	// Package is what is compiled there.
	Package string
	// Module is the module whose version the binary has, for people to read.
	Module string
	// Stamp is the variable that the version is written to, for binaries that
	// would otherwise not know it.
	Stamp string
	// Links are the further names that the binary is started under.
	Links []string
	// Optional binaries are compiled only where they are asked for by name.
	Optional bool
}

// All is every binary, the one that takes longest first.
var All = []Binary{
	{
		Name: Kube, Package: ".", Module: "k8s.io/kubernetes", Stamp: "k8s.io/component-base/version.gitVersion",
		Links: []string{
			"kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "kube-proxy", "kubectl",
			"kubeadm", "etcd", "coredns", "provisioner",
		},
	},
	{Name: K6, Package: "go.k6.io/k6", Module: "go.k6.io/k6"},
	{
		Name: PostgresOperator, Package: "github.com/zalando/postgres-operator/cmd", Module: "github.com/zalando/postgres-operator",
		Stamp: "main.version", Optional: true,
	},
	{
		Name: PrometheusOperator, Package: prometheusOperator + "/cmd/operator", Module: prometheusOperator,
		Stamp: "github.com/prometheus/common/version.Version", Optional: true,
	},
	{
		Name: PrometheusReloader, Folder: PrometheusOperator, Package: prometheusOperator + "/cmd/prometheus-config-reloader", Module: prometheusOperator,
		Stamp: "github.com/prometheus/common/version.Version", Optional: true,
	},
}

const prometheusOperator = "github.com/prometheus-operator/prometheus-operator"

// The binaries' names.
const (
	Kube               = "kube"
	K6                 = "k6"
	PostgresOperator   = "postgres-operator"
	PrometheusOperator = "prometheus-operator"
	PrometheusReloader = "prometheus-config-reloader"
)

// Ensure compiles what is missing or made of something else than it would be now.
func Ensure(l layout.Layout, only []string) error {
	toolchain, err := goVersion()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(l.Bin(""), 0o755); err != nil {
		return err
	}
	for _, name := range only {
		if !slices.ContainsFunc(All, func(b Binary) bool { return b.Name == name }) {
			return fmt.Errorf("there is no binary %q: the binaries are %s", name, strings.Join(names(), ", "))
		}
	}
	// Side by side, since one links on a single core while another compiles.
	failed := make([]error, len(All))
	var lanes sync.WaitGroup
	for i, b := range All {
		if b.wanted(only) {
			lanes.Go(func() { failed[i] = b.ensure(l, toolchain) })
		}
	}
	lanes.Wait()
	return errors.Join(failed...)
}

// Mark is the file that names what a binary is made of.
func Mark(l layout.Layout, name string) string { return l.Bin("." + name + ".inputs") }

// Links are the further names of a binary.
func Links(name string) []string { return find(name).Links }

// Version is the version of the module that a binary is made of.
func Version(l layout.Layout, name string) (string, error) {
	b := find(name)
	return b.version(b.source(l))
}

func find(name string) Binary {
	return All[slices.IndexFunc(All, func(b Binary) bool { return b.Name == name })]
}

// wanted tells whether a binary is among those that are asked for: with none named, all that are not optional.
func (b Binary) wanted(only []string) bool {
	if len(only) == 0 {
		return !b.Optional
	}
	return slices.Contains(only, b.Name)
}

// source is the folder with the go.mod that pins what is in the binary.
func (b Binary) source(l layout.Layout) string { return l.Source(cmp.Or(b.Folder, b.Name)) }

func names() []string {
	var all []string
	for _, b := range All {
		all = append(all, b.Name)
	}
	return all
}

func goVersion() (string, error) {
	out, err := exec.Command("go", "env", "GOVERSION", "GOARCH").Output()
	if err != nil {
		return "", errors.New("the go command is missing: install Go and put it on PATH")
	}
	return strings.Join(strings.Fields(string(out)), " "), nil
}

func (b Binary) ensure(l layout.Layout, toolchain string) error {
	source := b.source(l)
	version, err := b.version(source)
	if err != nil {
		return err
	}
	want, err := inputs(source, toolchain+b.flags(version))
	if err != nil {
		return err
	}
	mark := Mark(l, b.Name)
	have, err := os.ReadFile(mark)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if _, err := os.Stat(l.Bin(b.Name)); err != nil || string(have) != want {
		what := fmt.Sprintf("compile %s %s", b.Name, version)
		if err := say.Step(what, func() error { return b.compile(l, source, version) }); err != nil {
			return err
		}
		if err := os.WriteFile(mark, []byte(want), 0o644); err != nil {
			return err
		}
	}
	return b.link(l)
}

// compile replaces the binary in one step: the old one may be running.
func (b Binary) compile(l layout.Layout, source, version string) error {
	next := l.Bin("." + b.Name + ".next")
	// No -trimpath: it would compile anew what the build cache has of the standard library. What else is in these binaries is in
	// no other, so there it costs nothing to leave out what only a debugger reads, and saves a tenth.
	cmd := exec.Command("go", "build", "-buildvcs=false", "-gcflags=all=-dwarf=false", "-gcflags=std=",
		"-ldflags="+b.flags(version), "-o", next, b.Package)
	cmd.Dir = source
	// Static, because the binaries also go into images that hold nothing else.
	// A compiler that collects its garbage less often takes a tenth less time.
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOGC=400")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, tail(out, 20))
	}
	return os.Rename(next, l.Bin(b.Name))
}

func (b Binary) flags(version string) string {
	flags := "-s -w"
	if b.Stamp != "" {
		flags += " -X " + b.Stamp + "=" + version
	}
	return flags
}

func (b Binary) link(l layout.Layout) error {
	for _, name := range b.Links {
		path := l.Bin(name)
		if to, err := os.Readlink(path); err == nil && to == b.Name {
			continue
		}
		if err := os.RemoveAll(path); err != nil {
			return err
		}
		if err := os.Symlink(b.Name, path); err != nil {
			return err
		}
	}
	return nil
}

// version reads the module's version from the go.mod that pins it.
func (b Binary) version(source string) (string, error) {
	text, err := os.ReadFile(filepath.Join(source, "go.mod"))
	if err != nil {
		return "", err
	}
	return pinned(string(text), b.Module)
}

func pinned(gomod, module string) (string, error) {
	required := regexp.MustCompile(`(?m)^(?:require)?\s+` + regexp.QuoteMeta(module) + ` (v\S+)`)
	m := required.FindStringSubmatch(gomod)
	if m == nil {
		return "", fmt.Errorf("go.mod does not require %s", module)
	}
	return m[1], nil
}

// inputs names everything that a binary is made of: the sources beside go.mod
// and one folder below, and through go.sum the content of all modules.
func inputs(source, how string) (string, error) {
	h := sha256.New()
	_, _ = fmt.Fprintln(h, how)
	for _, pattern := range []string{"go.mod", "go.sum", "*.go", "*/*.go"} {
		paths, err := filepath.Glob(filepath.Join(source, pattern))
		if err != nil {
			return "", err
		}
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			b, err := os.ReadFile(path)
			if err != nil {
				return "", err
			}
			_, _ = fmt.Fprintf(h, "%s %x\n", strings.TrimPrefix(path, source), sha256.Sum256(b))
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func tail(out []byte, lines int) []byte {
	all := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	return bytes.Join(all[max(0, len(all)-lines):], []byte("\n"))
}
