package main

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// namespace is the operator's in install.yaml.
const namespace = "replab-system"

// chartSums are the sums of the charts of others, by their files' names, as sha256sum writes them.
//
//go:embed charts.sha256
var chartSums string

// charts packs the charts, with the image by its digest and the release's version.
func (r *release) charts() error {
	folder, err := os.MkdirTemp("", "replab-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	if err := r.edited(folder); err != nil {
		return err
	}
	own, stack := filepath.Join(folder, "replab"), filepath.Join(folder, "replab-stack")
	if _, err := output(r.helm, "package", own, "--destination", r.out); err != nil {
		return err
	}
	if _, err := output(r.helm, "dependency", "update", stack); err != nil {
		return r.skip("chart replab-stack", fmt.Errorf("its dependencies cannot be fetched\n%w", err))
	}
	if err := r.known(filepath.Join(stack, "charts")); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(stack, "Chart.lock")); err != nil { // it bears the time of the build
		return err
	}
	_, err = output(r.helm, "package", stack, "--destination", r.out)
	return err
}

// known compares the fetched charts of others with chartSums. The error has the lines that are missing there.
func (r *release) known(folder string) error {
	fetched, err := filepath.Glob(filepath.Join(folder, "*.tgz"))
	if err != nil {
		return err
	}
	var wrong []error
	for _, path := range fetched {
		name := filepath.Base(path)
		if name == "replab-"+r.chartVersion()+".tgz" { // packed from this checkout
			continue
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if line := fmt.Sprintf("%x  %s\n", sha256.Sum256(content), name); !strings.Contains("\n"+chartSums, "\n"+line) {
			wrong = append(wrong, errors.New(strings.TrimSpace(line)))
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("fetched charts that hack/release/charts.sha256 does not list: compare these sums with their publishers', then add them:\n%w", errors.Join(wrong...))
	}
	return nil
}

// edited copies the charts as they are in the release. Packages keep the files' times: all get that of the commit.
func (r *release) edited(folder string) error {
	for _, name := range []string{"replab", "replab-stack"} {
		to := filepath.Join(folder, name)
		if err := os.CopyFS(to, os.DirFS(filepath.Join("charts", name))); err != nil {
			return err
		}
		if err := os.RemoveAll(filepath.Join(to, "charts")); err != nil { // what was fetched for the checkout
			return err
		}
	}
	version := r.chartVersion()
	for _, e := range []struct{ file, line, with string }{
		{"replab/values.yaml", `^  replab: ""$`, "  replab: " + r.image},
		{"replab/Chart.yaml", `^version: .*$`, "version: " + version},
		{"replab/Chart.yaml", `^appVersion: .*$`, "appVersion: " + version},
		{"replab-stack/Chart.yaml", `^version: .*$`, "version: " + version},
		{"replab-stack/Chart.yaml", `^appVersion: .*$`, "appVersion: " + version},
		{"replab-stack/Chart.yaml", `^- name: replab\n  version: .*$`, "- name: replab\n  version: " + version},
	} {
		if err := edit(filepath.Join(folder, e.file), e.line, e.with); err != nil {
			return err
		}
	}
	return filepath.WalkDir(folder, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chtimes(path, r.when, r.when)
	})
}

func (r *release) chartVersion() string { return strings.TrimPrefix(r.version, "v") }

// edit replaces the one place of a file that matches.
func edit(path, pattern, with string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	places := regexp.MustCompile("(?m)"+pattern).FindAllIndex(text, -1)
	if len(places) != 1 {
		return fmt.Errorf("%s has %d places like %q, want one", path, len(places), pattern)
	}
	before, after := text[:places[0][0]], text[places[0][1]:]
	return os.WriteFile(path, bytes.Join([][]byte{before, after}, []byte(with)), 0o644)
}

// withoutHelm is the label of objects that Helm manages: those of install.yaml are not.
var withoutHelm = regexp.MustCompile(`(?m)^ *app\.kubernetes\.io/managed-by: Helm\n`)

// install writes the packed chart's objects, and its namespace, for `kubectl apply --server-side`.
func (r *release) install() error {
	objects, err := output(r.helm, "template", "replab", filepath.Join(r.out, "replab-"+r.chartVersion()+".tgz"), "--namespace", namespace)
	if err != nil {
		return err
	}
	own, err := os.ReadFile(filepath.Join("config", "default", "namespace.yaml"))
	if err != nil {
		return err
	}
	return r.write("install.yaml", append(own, withoutHelm.ReplaceAll(objects, nil)...))
}
