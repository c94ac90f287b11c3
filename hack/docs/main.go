// Command docs has crd-ref-docs write the API reference from the Go types: `go run ./hack/docs CRD.yaml api.md`. The CRD is not read.
package main

import (
	"fmt"
	"os"
	"os/exec"
)

const generator = "github.com/elastic/crd-ref-docs@v0.3.0"

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: docs CRD.yaml api.md")
		os.Exit(2)
	}
	generate := exec.Command("go", "run", generator, "--log-level=ERROR", "--renderer=markdown", "--max-depth=20", "--source-path=api/v1alpha1",
		"--config=hack/docs/config.yaml", "--templates-dir=hack/docs/templates", "--output-path="+os.Args[2])
	generate.Stdout, generate.Stderr = os.Stderr, os.Stderr
	if err := generate.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "docs:", err)
		os.Exit(1)
	}
}
