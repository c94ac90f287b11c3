// Command kubectl-replab is `kubectl replab`: it runs experiments on replication, shows them live, and reads what came of them.
package main

import (
	"os"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"replab.dev/api/v1alpha1"
	"replab.dev/api/v1alpha1/validation"
	mariadb "replab.dev/internal/engine/mariadb/parameters"
	mysql "replab.dev/internal/engine/mysql/parameters"
	postgres "replab.dev/internal/engine/postgres/parameters"
	"replab.dev/internal/plugin"
)

// engines are all that `check` knows the settings of: a new one is one line here.
var engines = validation.Servers{
	v1alpha1.EngineMySQL:      mysql.Rules{},
	v1alpha1.EngineMariaDB:    mariadb.Rules{},
	v1alpha1.EnginePostgreSQL: postgres.Rules{},
}

// version is set by the linker: -X main.version=v1.2.3.
var version = "devel"

func main() {
	streams := genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}
	os.Exit(plugin.Main(version, engines, os.Args, streams))
}
