// Package engine finds the Docker engine that kind's nodes run on. Where none
// answers, it runs one of its own, of Debian's packages.
package engine

import (
	"context"
	"os"
	"os/exec"
	"time"

	"replab.dev/hack/local/internal/layout"
)

// patience is for an engine that may be there: docker waits long for one that is not.
const patience = 10 * time.Second

// answers tells whether this process's docker commands reach an engine.
func answers() bool {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, "docker", "version", "--format", "{{.Server.Version}}").Output()
	return err == nil && len(out) > 1
}

// use has this process and its children talk to the engine in the folder.
func use(l layout.Layout) error {
	if err := os.Setenv("DOCKER_HOST", "unix://"+socket(l)); err != nil {
		return err
	}
	// Another program of this name may come first.
	return os.Setenv("PATH", debianPath+":"+os.Getenv("PATH"))
}

// debianPath is where Debian's packages have their programs.
const debianPath = "/usr/sbin:/usr/bin"

// Own tells whether the folder has an engine of its own.
func Own(l layout.Layout) bool {
	_, err := os.Stat(socket(l))
	return err == nil
}

func socket(l layout.Layout) string { return l.Engine("docker.sock") }
