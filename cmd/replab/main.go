// Command replab is every process of an experiment in one static binary: the operator, the instruments and the helpers
// of the database nodes, each a subcommand.
package main

import (
	"fmt"
	"os"
)

// version is set by the linker: -X main.version=v1.2.3.
var version = "devel"

func main() {
	if err := root().Execute(); err != nil {
		fmt.Fprintln(os.Stderr, "replab:", err)
		os.Exit(1)
	}
}
