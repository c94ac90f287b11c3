// Package crd carries the custom resource definition, for what checks experiments without a cluster.
package crd

import _ "embed"

// File is the definition as it is installed, YAML.
//
//go:embed replab.dev_replicationexperiments.yaml
var File []byte
