package postgres

import (
	"path/filepath"
	"slices"
	"strings"
)

// chores are arguments under which the same program is no server that others use.
var chores = []string{"--single", "--boot", "--check", "--describe-config", "-C", "-V", "--version", "cluster_name=" + aloneName}

// IsServer tells from a process's arguments whether it is the server that was started as argv, which names its data directory last. Other
// processes of the server have one argument, in which they say what they do; one that was forked a moment ago still has its parent's.
func (Server) IsServer(argv, process []string) bool {
	if len(process) == 0 || filepath.Base(process[0]) != filepath.Base(argv[0]) {
		return false
	}
	if !strings.Contains(strings.Join(process, "\n")+"\n", "\n-D\n"+argv[len(argv)-1]+"\n") {
		return false
	}
	return !slices.ContainsFunc(process, func(argument string) bool { return slices.Contains(chores, argument) })
}
