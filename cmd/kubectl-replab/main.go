// Command kubectl-replab is `kubectl replab`: it runs experiments on replication, shows them live, and reads what came of them.
package main

import (
	"os"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"replab.dev/internal/plugin"
)

// version is set by the linker: -X main.version=v1.2.3.
var version = "devel"

func main() {
	streams := genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}
	os.Exit(plugin.Main(version, os.Args, streams))
}
