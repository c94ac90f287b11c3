// Command docs writes the API reference from the CRD: `go run ./hack/docs CRD.yaml api.md`.
//
// The CRD is the source, not the Go types, since it is what the API server enforces: its defaults, limits and rules. That is also why
// this is not crd-ref-docs, which reads the types: as of 0.3.0 it leaves the CEL rules out, names objects by their Go types instead
// of their paths, and knows no printer columns.
package main

import (
	"bytes"
	"fmt"
	"os"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: docs CRD.yaml api.md")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "docs:", err)
		os.Exit(1)
	}
}

func run(crdFile, docFile string) error {
	text, err := os.ReadFile(crdFile)
	if err != nil {
		return fmt.Errorf("read the CRD: %w", err)
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(text, &crd); err != nil {
		return fmt.Errorf("parse the CRD %s: %w", crdFile, err)
	}
	var out bytes.Buffer
	if err := render(&out, &crd); err != nil {
		return fmt.Errorf("render %s: %w", crdFile, err)
	}
	if err := os.WriteFile(docFile, out.Bytes(), 0o644); err != nil {
		return fmt.Errorf("write the API reference: %w", err)
	}
	return nil
}
