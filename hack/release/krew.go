package main

import "sigs.k8s.io/yaml"

// krewManifest is the file that describes the plugin to krew: v1alpha2 of its index.
func krewManifest(version, url string, all []archive) ([]byte, error) {
	var entries []map[string]any
	for _, a := range all {
		entries = append(entries, map[string]any{
			"selector": map[string]any{"matchLabels": map[string]string{"os": a.platform.os, "arch": a.platform.arch}},
			"uri":      url + "/" + a.name,
			"sha256":   a.sum(),
			"bin":      a.platform.binary(),
			"files":    []map[string]string{{"from": a.platform.binary(), "to": "."}, {"from": "LICENSE", "to": "."}},
		})
	}
	return yaml.Marshal(map[string]any{
		"apiVersion": "krew.googlecontainertools.github.com/v1alpha2",
		"kind":       "Plugin",
		"metadata":   map[string]string{"name": "replab"},
		"spec": map[string]any{
			"version":          version,
			"homepage":         "https://replab.dev",
			"shortDescription": "Run experiments on database replication",
			"description":      description,
			"caveats":          "The operator has to be on the cluster, and Kubernetes be 1.30 or later.\n",
			"platforms":        entries,
		},
	})
}

const description = `Runs ReplicationExperiments: what a replication topology costs, and what it loses
when something dies. Shows a run while it goes on, and reports its verdict with the
evidence. Needs replab's operator on the cluster.
`
