package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"replab.dev/hack/lab/internal/conf"
)

func (l Lab) kubectl(args ...string) (string, error) {
	cmd := exec.Command(l.Bin("kubectl"), append([]string{"--kubeconfig=" + l.Kubeconfig()}, args...)...)
	var out, problem bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problem
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("kubectl %s: %w: %s", args[0], err, bytes.TrimSpace(problem.Bytes()))
	}
	return out.String(), nil
}

// applyAddons repeats a refusal for a while: the API server is ready before it
// has made the default roles that the addons refer to.
func (l Lab) applyAddons() error {
	var err error
	for range 20 {
		_, err = l.kubectl("apply", "--server-side", "--force-conflicts", "--field-manager=lab", "-f", l.Conf("addons.yaml"))
		if err == nil {
			return nil
		}
		time.Sleep(500 * time.Millisecond)
	}
	return err
}

func (l Lab) awaitNode() error {
	ready := probe(func() error {
		out, err := l.kubectl("get", "node", conf.NodeName,
			"-o", `jsonpath={range .status.conditions[?(@.type=="Ready")]}{.status}{" "}{.message}{end}`)
		if err != nil {
			return err
		}
		if status, message, _ := strings.Cut(out, " "); status != "True" {
			return errors.New(message)
		}
		// Pods are refused until the namespace's account exists.
		_, err = l.kubectl("get", "serviceaccount", "default", "-n", "default")
		return err
	})
	return ready.within(nodePatience, l.ended("kubelet"))
}

func lastLines(path string, count int) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return "  " + strings.Join(lines[max(0, len(lines)-count):], "\n  ")
}
