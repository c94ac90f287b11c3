package kind

import (
	"errors"
	"os"
	"strings"
	"testing"

	"sigs.k8s.io/kind/pkg/cluster/nodes"

	"replab.dev/hack/local/internal/layout"
	"replab.dev/hack/local/internal/standin"
)

func TestOnlyOurClusterIsTaken(t *testing.T) {
	l := layout.Layout{Checkout: "/here", Dir: t.TempDir()}
	for name, c := range map[string]struct{ docker, want string }{
		"ours":                      {docker: "echo /here/config/kind/patches"},
		"a node is not there yet":   {docker: `case "$*" in *worker) echo;; *) echo /here/config/kind/patches;; esac`},
		"another checkout's":        {docker: "echo /there/config/kind/patches", want: "was made from /there: run make cluster-down there first"},
		"somebody's own":            {docker: "echo", want: "docker rm --force --volumes replab-control-plane replab-worker"},
		"with patches of its own":   {docker: "echo /home/me/patches", want: "was not made by make cluster-up"},
		"an engine that has failed": {docker: "echo broken >&2; exit 1", want: "broken"},
	} {
		t.Run(name, func(t *testing.T) {
			standin.Commands(t, map[string]string{"docker": c.docker})
			err := ours(l, []nodes.Node{node{name: "replab-control-plane"}, node{name: "replab-worker"}})
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestClustersOfAnEngineOfOnesOwnAreOurs(t *testing.T) {
	l := layout.Layout{Checkout: "/here", Dir: t.TempDir()}
	if err := errors.Join(os.MkdirAll(l.Engine(), 0o755), os.WriteFile(l.Engine("docker.sock"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	standin.Commands(t, map[string]string{"docker": "echo /there/config/kind/patches"})
	if err := ours(l, []nodes.Node{node{name: "replab-control-plane"}}); err != nil {
		t.Error(err)
	}
}

func TestOnlyTestSaysThatCreationIsUnfinished(t *testing.T) {
	for name, c := range map[string]struct {
		docker             string
		unfinished, failed bool
	}{
		"test answers 0":           {docker: "echo 0"},
		"test answers 1":           {docker: "echo 1", unfinished: true},
		"test itself fails":        {docker: "echo 2", failed: true},
		"docker exec fails with 1": {docker: "echo 'the container is not running' >&2; exit 1", failed: true},
		"there is no shell":        {docker: "exit 127", failed: true},
	} {
		t.Run(name, func(t *testing.T) {
			standin.Commands(t, map[string]string{"docker": c.docker})
			got, err := unfinished([]nodes.Node{node{name: "replab-control-plane"}})
			if got != c.unfinished || (err != nil) != c.failed {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
}

// node of a cluster, which is a control plane.
type node struct {
	nodes.Node
	name string
}

func (n node) String() string        { return n.name }
func (n node) Role() (string, error) { return "control-plane", nil }
